"""Test a run's answer: at most 25 lines of 80 columns, which claim only what is certain."""

import html
import io

import pytest
from rich.console import Console

from loadtests.report import reports
from tests.fixtures.changes import failing, slowed
from tests.fixtures.pages import page_of
from tests.fixtures.studies import a_test
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


def first_said(lines):
    """Return the first line below the title."""
    return next(line for line in lines[1:] if line)


def row(lines, label):
    """Return the words in the setup's line of the table."""
    head = next(place for place, line in enumerate(lines) if line.startswith("setup  "))
    return next(words for line in lines[head:] if (words := line.split())[:1] == [label])


def test_each_setup_has_a_line(build_run):
    lines = printed(build_run(blocks=10, aa=True))
    assert row(lines, "setup") == ["setup", "requests/s", "p50,", "ms", "ms", "load,", "ms", "MB"]
    assert row(lines, "gunicorn")[1:5] == ["9,476", "×1", "2.11", "×1"]
    assert row(lines, "uvicorn")[1:5] == ["6,316", "×0.66–0.67", "3.17", "×1.50–1.51"]
    assert not any(line.startswith("gunicorn-again") for line in lines)
    assert "requests/s and CPU at full load with 10 connections; p50 and p99 at 300" in lines
    assert "×N relative to gunicorn; 95% confidence intervals, adjusted for 20 comparisons." in lines
    text = "\n".join(lines)
    assert text.index("gunicorn answers the most") < text.index("setup  ")


def test_uncertain_results_have_no_values(build_run):
    def noisy(label, test, block):
        """Simulate a machine on which a setup is sometimes twice as fast and sometimes half as fast."""
        return 2.0 ** ((block * (3 + len(label))) % 3 - 1)

    lines = printed(build_run(labels=TWO, blocks=4, change=slowed(noisy, rate=True)))
    assert row(lines, "uvicorn")[2] == row(lines, "uvicorn")[4] == "?"
    [shown] = [place for place, line in enumerate(lines) if line.startswith("?: inconclusive")]
    assert "would" in " ".join(lines[shown : shown + 3])
    assert "1000" not in "".join(lines)


# With uvicorn, users see another user's session, or lose their session.
FORGETTING = replaced("uvicorn", errors={"mixed-up": 2, "lost-session": 40}, ok=lambda result: result.ok - 42)


def test_refused_requests_are_explained(build_run):
    change = replaced(
        "uvicorn", "latency", ok=0, errors={"status": 60}, examples={"status": "status 429 instead of 200"}
    )
    text = " ".join(" ".join(printed(build_run(labels=TWO, change=change))).split())
    assert "uvicorn at 300 requests/s: the application answered 429 instead of 200 to" in text
    assert "Switch off the application's rate limit for the measurement." in text


@pytest.mark.parametrize(
    ("test", "change", "said", "shown"),
    [
        ("latency", failing("uvicorn"), "uvicorn cannot sustain 300 requests/s, only about 225", "– cannot sustain"),
        (
            "throughput",
            failing("uvicorn", times=0.1),
            "Requests failed (status) with 10 connections, so not ranked: uvicorn 25.00%.",
            "25.0% failed",
        ),
        ("latency", FORGETTING, "Sessions were not kept at 300 requests/s: uvicorn 4 mixed up and 80 lost.", ""),
    ],
    ids=["overloaded", "failing", "forgetting"],
)
def test_failing_setups_come_first(build_run, test, change, said, shown):
    lines = printed(build_run(labels=TWO, tests=(test,), change=change))
    assert first_said(lines).startswith(said)
    assert shown in " ".join(row(lines, "uvicorn"))


def test_setups_without_trials_come_first(build_run):
    lost = tuple((label, "latency", block) for label in ("uvicorn", "daphne") for block in (1, 2))
    lines = printed(build_run(labels=(*TWO, "daphne"), lost=lost))
    assert first_said(lines).startswith("No valid trial at 300 requests/s: uvicorn and daphne (invalid:")
    said = " ".join(map(str.strip, lines))
    assert said.count("(invalid: generator busy)") == 1
    assert "8 invalid (the generator was saturated)." in said


def test_answer_fits_nineteen_setups(build_run):
    lines = printed(build_run(labels=NINETEEN, blocks=4))
    rows = [line for line in lines if line.startswith("server-")]
    assert len(rows) >= 14
    assert len(rows) == 19 or f"... and {19 - len(rows)} more, on the page" in lines


def test_overloaded_setups_share_a_sentence(build_run):
    lines = printed(build_run(labels=NINETEEN, tests=("latency",), change=failing(*NINETEEN[1:])))
    assert first_said(lines).startswith("Cannot sustain the load at 300 requests/s: server-01 (about 225)")


def test_omitted_rows_are_counted(build_run):
    # Each test requests a different page, because tests of the same page would be reported as a curve.
    asked = {"rate": 300, "duration": "10s"}
    tests = tuple(a_test("latency", f"latency-{name}", path=f"/{name}", **asked) for name in "abcdefghi")
    lines = printed(build_run(labels=TWO, tests=tests))
    assert "On the page: 4 more columns." in " ".join(" ".join(lines).split())


@pytest.mark.parametrize(
    "shape",
    [
        {"blocks": 0},
        {"labels": ("gunicorn",), "blocks": 1, "tests": ("capacity",)},
        {"lost": tuple(("gunicorn", "latency", block) for block in (1, 2))},
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
    run = build_run(blocks=6, change=failing("uvicorn"))
    reports.write(run)
    answer = page_of(run).answer
    for page in ("report.html", "index.rst"):
        text = html.unescape((run.path / page).read_text(encoding="utf-8").replace("\\", ""))
        assert all(said in text for said in (*answer.headlines, *answer.winners, *answer.all_notes))
        main = text.partition("</nav>")[2] or text
        assert main.index(answer.headlines[0]) < main.index("Verdicts") < main.index("How to repeat it")
