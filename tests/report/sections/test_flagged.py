"""What was left out, invalid or doubtful, and why."""

import pytest

from loadtests.records.run.run_record import LeftOut
from tests.fixtures.pages import column, page_of, section


@pytest.fixture
def page(build_run):
    """The page of a run, of which these setups were left out."""

    def build(*left_out, lost=(), name="a"):
        run = build_run(labels=("gunicorn", "uvicorn", "daphne"), lost=lost, record={"left_out": left_out}, name=name)
        for trial in run.trials():
            if any((trial.label, trial.test) == (one.label, one.test) for one in left_out):
                (run.path / "trials" / f"{trial.name}.json").unlink()
        return page_of(run)

    return build


def test_a_setup_that_no_test_had_was_skipped(page):
    found = page(LeftOut("nginx", None, "nginx is not on PATH"))
    assert "Skipped (reasons on the page): nginx." in found.answer.notes
    assert section(found, "invalid").paragraphs[0] == "nginx was skipped: nginx is not on PATH."


def test_a_setup_that_one_test_had_not_was_left_out_of_it_and_has_no_row_in_it(page):
    found = page(LeftOut("uvicorn", "latency", "it cannot run that"))
    assert "Left out (reasons on the page): uvicorn in latency." in found.answer.notes
    assert section(found, "invalid").paragraphs[0] == "uvicorn was left out of latency: it cannot run that."
    [latency], [throughput] = section(found, "latency").tables, section(found, "throughput").tables
    assert list(column(latency, "setup")) == ["gunicorn", "daphne"]
    assert "uvicorn" in column(throughput, "setup")
    verdicts, _ = section(found, "verdicts").tables
    assert "uvicorn" not in {row[0].text for row in verdicts.rows}
    assert not any("uvicorn" in finding.answer for finding in found.findings if "ms" in finding.answer)


def test_trials_are_counted_by_reason_and_listed_one_by_one(page):
    assert section(page(), "invalid").paragraphs == ("No trial was invalid or doubtful.",)
    found = section(page(lost=(("uvicorn", "latency", 1),), name="b"), "invalid")
    [flags, generator] = found.tables
    assert [row[2].text for row in flags.rows] == ["invalid", "invalid"]
    assert found.paragraphs[1].startswith("generator_busy: 2 trials invalid (")
    assert generator.name == "generator"
