"""The report in a terminal."""

import io

from rich.console import Console

from loadtests import report


def printed(run, **options):
    text = io.StringIO()
    report.print_report(run, Console(file=text, **options))
    return text.getvalue()


def test_it_is_plain_and_aligned_where_it_is_not_a_terminal(build_run):
    text = printed(build_run(blocks=6, aa=True))
    assert "\x1b" not in text
    lines = text.splitlines()
    head = next(place for place, line in enumerate(lines) if line.split()[:3] == ["setup", "p50", "p90"])
    ends = {line.index(line.split()[2]) + len(line.split()[2]) for line in lines[head + 1 : head + 6]}
    assert len(ends) == 1  # the first column of figures is flush right
    assert all(line.split()[0] != "" for line in lines[head + 1 : head + 6])


def test_it_has_the_figures_the_verdicts_and_the_way_to_the_page(build_run):
    run = build_run(blocks=6, aa=True)
    text = printed(run)
    assert "×1.50 (×1.49 to ×1.51)" in text  # uvicorn's 3 ms against gunicorn's 2
    assert "slower" in text
    assert "Noise floor: gunicorn against itself as gunicorn-again" in text
    assert str(run.path / "report.html") in text


def test_invalid_trials_and_failed_requests_are_named(build_run):
    def fail(label, test, block, result):
        if (label, test) == ("uvicorn", "latency"):
            result["errors"], result["ok"] = {"status": 30}, 2970

    text = printed(build_run(lost=(("daphne", "latency", 1), ("daphne", "latency", 2)), change=fail))
    assert "invalid: generator busy" in text
    assert "Lower the rate & <try> again." in text
    assert "60 (1.00%)" in text


def test_brackets_in_a_study_are_no_markup(build_run):
    assert "[bold]x[/bold] [/]" in printed(build_run(study={"title": "[bold]x[/bold] [/]"}))


def test_a_narrow_terminal_keeps_every_figure(build_run):
    text = printed(build_run(), force_terminal=True, width=60, color_system=None)
    assert max(len(line) for line in text.splitlines() if not line.startswith("The page")) <= 60


def test_nothing_measured_is_said(build_run):
    assert "Nothing was measured" in printed(build_run(blocks=0))
