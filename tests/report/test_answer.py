"""Test a run's answer: at most 25 lines of 80 columns, which claim only what is certain."""

import html
import io

import pytest
from rich.console import Console

from loadtests.report import reports
from tests.fixtures.changes import failing, slowed
from tests.fixtures.pages import column, page_of
from tests.report.changed import replaced

TWO = ("gunicorn", "uvicorn")
NINETEEN = tuple(f"server-{number:02d}" for number in range(19))
LONG = tuple(f"{letter * 79}{number}" for number, letter in enumerate("abcdefghijklmnopqrst"))


def printed(run):
    text = io.StringIO()
    reports.print_report(run, Console(file=text, force_terminal=True, width=80, color_system=None))
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    assert lines[-1] == f"The page: {run.path / 'report.html'}"
    assert len(lines) <= 25
    assert max(map(len, lines[:-1])) <= 80
    return lines


def row(lines, label):
    """Return the words in the setup's line of the table."""
    head = next(place for place, line in enumerate(lines) if line.startswith("setup  "))
    return next(words for line in lines[head:] if (words := line.split())[:1] == [label])


def test_each_setup_has_a_line(build_run):
    run = build_run(blocks=10, aa=True)
    lines = printed(run)
    assert page_of(run).answer.table.columns == (
        "setup", "requests/s", "p50, ms", "CPU at full load, ms", "p99, ms", "MB"
    )  # fmt: skip
    assert row(lines, "gunicorn")[1:5] == ["9,476", "×1", "2.11", "×1"]
    assert row(lines, "uvicorn")[1:5] == ["6,316", "×0.66–0.67", "3.17", "×1.50–1.51"]
    assert not any(line.startswith("gunicorn-again") for line in lines)
    assert "requests/s and CPU at full load with 10 connections; p50 and p99 at 300" in lines
    assert "×N relative to gunicorn; 95% confidence intervals, adjusted for 20 comparisons." in lines


def test_uncertain_results_have_no_values(build_run):
    def noisy(label, test, block):
        """Simulate a machine on which a setup is sometimes twice as fast and sometimes half as fast."""
        return 2.0 ** ((block * (3 + len(label))) % 3 - 1)

    lines = printed(build_run(labels=TWO, blocks=4, change=slowed(noisy, rate=True)))
    assert row(lines, "uvicorn")[2] == row(lines, "uvicorn")[4] == "?"
    [shown] = [place for place, line in enumerate(lines) if line.startswith("?: inconclusive")]
    assert "would" in " ".join(lines[shown : shown + 3])
    assert "1000" not in "".join(lines)


LOST = tuple((label, "latency", block) for label in TWO for block in (1, 2))
LIMITED = {"ok": 0, "errors": {"status": 60}, "examples": {"status": "status 429 instead of 200"}}
SAID = {
    "Cannot sustain the load at 300 requests/s: uvicorn (only about 225/s, 25.0% failed).": failing("uvicorn"),
    "Requests failed (status) with 10 connections: uvicorn (25.00%).": failing("uvicorn", times=0.1),
    "Sessions were not kept at 300 requests/s: uvicorn (4 mixed up and 80 lost).": replaced(
        "uvicorn", errors={"mixed-up": 2, "lost-session": 40}
    ),
    "Unusable answers at 300 requests/s: uvicorn (the application answered 429": replaced("uvicorn", **LIMITED),
}


@pytest.mark.parametrize("said", SAID)
def test_failing_setups_come_first(build_run, said):
    lines = printed(build_run(labels=TWO, change=SAID[said]))
    assert said in " ".join(map(str.strip, lines[1:8]))


def test_setups_without_trials_come_first(build_run):
    lines = printed(build_run(labels=(*TWO, "daphne"), lost=LOST))
    assert lines[2].startswith("No valid trial at 300 requests/s: gunicorn and uvicorn (invalid: ")


@pytest.mark.parametrize(
    "shape",
    [
        {"blocks": 0},
        {"labels": ("gunicorn",), "blocks": 1, "tests": ("capacity",)},
        {"lost": tuple(("gunicorn", "latency", block) for block in (1, 2))},
        {"labels": NINETEEN, "blocks": 4},
        {"labels": LONG, "change": failing(*LONG[1:]), "study": {"title": "a long title " * 50}},
    ],
)
def test_any_run_has_an_answer(build_run, shape):
    assert printed(build_run(**shape))


def test_one_block_allows_no_claim(build_run):
    lines = printed(build_run(blocks=1))
    assert "One block has no intervals, so no difference is significant or ranked." in lines
    assert not any("–" in word for line in lines for word in line.split() if word.startswith("×"))


def test_page_shows_the_same_answer(build_run):
    run = build_run(labels=TWO, tests=("latency",), blocks=6, change=failing("uvicorn"))
    reports.write(run)
    answer = page_of(run).answer
    for page in ("report.html", "index.rst"):
        text = html.unescape((run.path / page).read_text(encoding="utf-8").replace("\\", ""))
        assert all(said in text for said in (*answer.headlines, *answer.winners, *answer.all_notes))
        assert column(answer.table, "p50, ms")["uvicorn"].detail == "cannot sustain"
        main = text.partition("</nav>")[2] or text
        assert main.index(answer.headlines[0]) < main.index("Verdicts") < main.index("How to repeat it")
