"""What a person sees of a run: at most 25 lines of at most 80 columns, which claim no more than is certain."""

import dataclasses
import html
import io

import pytest
from rich.console import Console

from loadtests.report import reports
from tests.fixtures.changes import failing, slowed
from tests.fixtures.pages import page_of
from tests.fixtures.runs import known_test

NINETEEN = tuple(f"server-{number:02d}" for number in range(19))


def printed(run):
    text = io.StringIO()
    reports.print_report(run, Console(file=text, force_terminal=True, width=80, color_system=None))
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    assert lines[-1] == f"The page: {run.path / 'report.html'}"
    assert len(lines) <= 25
    assert max(map(len, lines[:-1])) <= 80
    return lines


def row(lines, label):
    """The words of a line of the table."""
    head = next(place for place, line in enumerate(lines) if line.startswith("setup  "))
    return next(words for line in lines[head:] if (words := line.split())[:1] == [label])


def noisy(label, test, block):
    """A machine on which a setup is now twice as fast and now half as fast."""
    return 2.0 ** ((block * (3 + len(label))) % 3 - 1)


def test_each_setup_has_a_line_with_what_is_certain_of_it(build_run):
    lines = printed(build_run(blocks=10, aa=True))
    assert row(lines, "setup") == ["setup", "requests/s", "p50,", "ms", "p99,", "ms", "CPU,", "ms", "MB"]
    assert row(lines, "gunicorn")[1:5] == ["9,476", "×1", "2.11", "×1"]
    assert row(lines, "uvicorn")[1:5] == ["6,316", "×0.66–0.67", "3.17", "×1.50–1.51"]
    assert not any(line.startswith("gunicorn-again") for line in lines)
    assert "requests/s with 10 connections; p50, p99 and CPU at 300 requests/s; MB at peak." in lines
    assert "×N relative to gunicorn; 95% confidence intervals, adjusted for 16 comparisons." in lines


def test_who_is_first_is_said_before_the_rows(build_run):
    text = "\n".join(printed(build_run(blocks=10, aa=True)))
    assert text.index("gunicorn answers the most") < text.index("setup  ")


def test_what_is_not_certain_has_no_figures_and_what_would_settle_it_is_said_once(build_run):
    lines = printed(build_run(labels=("gunicorn", "uvicorn"), blocks=4, change=slowed(noisy, rate=True)))
    assert row(lines, "uvicorn")[2] == row(lines, "uvicorn")[4] == "?"
    [shown] = [place for place, line in enumerate(lines) if line.startswith("?: inconclusive")]
    assert "would" in " ".join(lines[shown : shown + 3])
    assert "1000" not in "".join(lines)


def test_who_cannot_hold_the_rate_is_said_first_and_has_no_time(build_run):
    lines = printed(build_run(labels=("gunicorn", "uvicorn"), blocks=6, change=failing("uvicorn")))
    assert next(line for line in lines[1:] if line).startswith("uvicorn cannot sustain 300 requests/s, only about 225")
    assert row(lines, "uvicorn")[4:7] == ["–", "cannot", "sustain"]


def test_who_fails_is_said_first_and_is_not_compared(build_run):
    change = failing("uvicorn", times=0.1)
    lines = printed(build_run(labels=("gunicorn", "uvicorn"), tests=("throughput",), blocks=6, change=change))
    said = next(line for line in lines[1:] if line)
    assert said == "Requests failed with 10 connections, so not ranked: uvicorn 25.00%."
    assert row(lines, "uvicorn")[2:4] == ["25.0%", "failed"]


def test_a_setup_without_a_valid_trial_is_said_first(build_run):
    lost = tuple(("uvicorn", "latency", block) for block in (1, 2))
    lines = printed(build_run(labels=("gunicorn", "uvicorn"), lost=lost))
    said = next(line for line in lines[1:] if line)
    assert said == "No valid trial at 300 requests/s: uvicorn (invalid: generator busy)."
    assert "4 invalid (the generator was saturated)." in " ".join(map(str.strip, lines))


def test_setups_without_a_valid_trial_for_one_reason_are_listed_once(build_run):
    lost = tuple((label, "latency", block) for label in ("uvicorn", "daphne") for block in (1, 2))
    said = " ".join(printed(build_run(labels=("gunicorn", "uvicorn", "daphne"), lost=lost)))
    assert said.count("(invalid: generator busy)") == 1


def test_nineteen_setups_find_room(build_run):
    lines = printed(build_run(labels=NINETEEN, blocks=4))
    rows = [line for line in lines if line.startswith("server-")]
    assert len(rows) >= 14
    assert len(rows) == 19 or f"... and {19 - len(rows)} more, on the page" in lines


def test_what_finds_no_room_is_counted(build_run):
    # Another page each, lest they be reported as the steps of one curve.
    [request] = known_test("latency").requests
    tests = tuple(
        known_test(f"latency-{name}").with_requests((dataclasses.replace(request, path=f"/{name}"),))
        for name in "abcdefghi"
    )
    lines = printed(build_run(labels=("gunicorn", "uvicorn"), tests=tests))
    assert "On the page: 1 more column." in " ".join(" ".join(lines).split())


def test_labels_as_long_as_they_may_be(build_run):
    labels = tuple(f"{letter * 79}{number}" for number, letter in enumerate("abcdefghijklmnopqrst"))
    printed(build_run(labels=labels, change=failing(*labels[1:])))


@pytest.mark.parametrize(
    "shape",
    [
        {"blocks": 0},
        {"blocks": 1},
        {"labels": ("gunicorn",)},
        {"labels": ("gunicorn",), "blocks": 1, "tests": ("capacity",)},
        {"tests": ("latency", "throughput", "capacity"), "aa": True},
        {"lost": tuple(("gunicorn", "latency", block) for block in (1, 2))},
        {"study": {"title": "a long title " * 50}},
    ],
)
def test_any_run_has_an_answer(build_run, shape):
    assert printed(build_run(**shape))


def test_one_block_claims_nothing(build_run):
    lines = printed(build_run(blocks=1))
    assert "One block gives no interval, so nothing is significant and nothing is ranked." in lines
    assert not any("–" in word for line in lines for word in line.split() if word.startswith("×"))


def test_the_page_has_the_same_answer(build_run):
    run = build_run(blocks=6, change=failing("uvicorn"))
    reports.write(run)
    answer = page_of(run).answer
    for page in ("report.html", "index.rst"):
        text = html.unescape((run.path / page).read_text(encoding="utf-8").replace("\\", ""))
        assert all(said in text for said in (*answer.headlines, *answer.winners, *answer.all_notes))
        main = text.partition("</nav>")[2] or text
        assert main.index(answer.headlines[0]) < main.index("Verdicts") < main.index("How to repeat it")


def test_sessions_that_were_not_kept_are_said_before_anything_else(build_run):
    def change(label, test, block, result):
        if label != "uvicorn":
            return result
        errors = {"mixed-up": 2, "lost-session": 40}
        return dataclasses.replace(result, errors=errors, ok=result.ok - 42)

    lines = printed(build_run(labels=("gunicorn", "uvicorn"), tests=("latency",), blocks=2, change=change))
    assert next(line for line in lines[1:] if line) == (
        "Sessions were not kept at 300 requests/s: uvicorn 4 mixed up and 80 lost."
    )
