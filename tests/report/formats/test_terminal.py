"""Test the report in a terminal, with all tables."""

import io

import pytest
from rich.console import Console

from loadtests.report import reports


def printed(run, **options):
    text = io.StringIO()
    reports.print_report(run, Console(file=text, **options), tables=True)
    return text.getvalue()


def test_piped_output_is_plain(build_run):
    text = printed(build_run(blocks=6, aa=True, study={"title": "[bold]x[/bold] [/]"}))
    assert "\x1b" not in text
    assert "[bold]x[/bold] [/]" in text  # the title isn't read as markup
    assert "×1.50 (1.49 to 1.51)" in text  # uvicorn's 3 ms relative to gunicorn's 2 ms
    assert "slower" in text
    assert "Noise floor: gunicorn against itself as gunicorn-again" in text
    lines = text.splitlines()
    head = next(place for place, line in enumerate(lines) if line.split()[:3] == ["setup", "p50", "p90"])
    ends = {line.index(line.split()[2]) + len(line.split()[2]) for line in lines[head + 1 : head + 6]}
    assert len(ends) == 1  # the first column of figures is aligned to the right


def test_narrow_terminal_shows_every_figure(build_run):
    text = printed(build_run(), force_terminal=True, width=60, color_system=None)
    assert max(len(line) for line in text.splitlines() if not line.startswith("The page")) <= 60


@pytest.mark.parametrize("width", [80, 100])
def test_columns_are_omitted_not_folded(build_run, width):
    run = build_run(blocks=2, aa=True, tests=("latency", "throughput", "capacity"))
    text = printed(run, force_terminal=True, width=width, color_system=None)
    lines = text.splitlines()
    labels = [entry.label for entry in run.record.study.entries]
    tables = [place for place, line in enumerate(lines) if line.split()[:1] == ["setup"]]
    assert len(tables) == 10  # for the answer, for the verdicts and cost of each test, and for three kinds of tests
    for place in tables:
        assert lines[place + 1].split()[0] in labels
        assert lines[place + 4].split()[0] in labels  # no row is folded
    assert ("web ms" in text) == (width == 100) or "worker ms" in text
