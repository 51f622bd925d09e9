"""``advise`` on a machine that is too busy: it ends with what was measured, and says how to go on."""

import re

import pytest

from loadtests.measure import advise
from tests.fixtures.bench import FakeTrials

LATE = "send_lag"


@pytest.fixture
def searching(command, monkeypatch, bench_of, tmp_path):
    """A function: what ``advise`` with these options ends with, where ``reason`` says why a trial is invalid."""
    prepare = advise.prepare

    def search(reason, *options):
        trials = FakeTrials(reason=reason)

        def instead(*given, progress):
            return trials.instead(prepare(*given, bench_of=bench_of, progress=progress))

        monkeypatch.setattr(advise, "prepare", instead)
        return command("advise", "gunicorn", "--output", tmp_path / "run", *options)

    return search


def test_a_machine_that_is_too_busy_from_the_start_gets_its_unverified_figures(searching, tmp_path):
    code, printed, errors = searching(lambda planned: LATE)
    assert code == 0
    assert "Not known: the search ended after 0 rounds, with 12 candidates left." in " ".join(printed.split())
    assert "None of them has a figure that is verified." in " ".join(printed.split())
    assert re.search(r"\([\d,]+\)", printed)
    [warning] = errors.splitlines()
    assert re.match(r"warning: \d+ trials in a row are invalid by no setup's fault: ", warning)
    assert warning.endswith("; search anew once that has changed, or regardless: --anyway")
    assert (tmp_path / "run" / "report.html").exists()


def test_one_that_becomes_too_busy_says_who_is_left_and_who_leads(searching):
    code, printed, errors = searching(lambda planned: LATE if planned.slot.block > 2 else None)
    assert code == 0
    said = " ".join(printed.split())
    assert "Not known: the search ended after 1 round, with 6 candidates left." in said
    assert re.search(r"workers? × \d threads? has the best requests per second so far, \d+ requests/s; more", said)
    assert errors.startswith("warning: ")


def test_asked_to_go_on_it_ends_with_what_it_has_as_well(searching):
    code, printed, errors = searching(lambda planned: LATE, "--anyway")
    assert code == 0
    assert "Not known: the search ended after 0 rounds" in " ".join(printed.split())
    assert "no candidate has a valid trial in which it answered its requests" in errors


def test_where_a_candidate_has_no_figure_it_is_an_error(searching):
    code, _, errors = searching(lambda planned: "server_did_not_start")
    assert code == 1
    assert errors.startswith("error: ")
