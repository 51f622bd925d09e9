"""The commands that write a report again, and draw a history."""

import tempfile

import pytest

from loadtests import files
from tests.fixtures.changes import slowed


@pytest.fixture
def no_display(monkeypatch):
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def test_a_page_that_is_not_there_is_opened_from_a_temporary_folder(
    build_run, monkeypatch, no_display, command, tmp_path
):
    run = build_run(labels=("gunicorn",), blocks=1)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = set(run.path.rglob("*"))
    code, printed, _ = command("report", run.path, "--open")
    assert (code, set(run.path.rglob("*"))) == (0, before)
    [page] = temporary.glob("report-*/*.html")
    assert printed.strip().endswith(f"the page is {page}")
    assert page.read_text(encoding="utf-8").lstrip().startswith("<!doctype html>")


def test_only_a_rebuild_writes_into_the_folder_of_a_run(build_run, no_display, command):
    run = build_run(labels=("gunicorn",), blocks=1)
    before = set(run.path.rglob("*"))
    code, printed, _ = command("report", run.path)
    assert (code, set(run.path.rglob("*"))) == (0, before)
    assert printed.strip().endswith("The page: not written yet; --rebuild writes it, --open shows it")
    assert command("report", run.path, "--rebuild")[0] == 0
    assert (run.path / "summary.csv").exists()
    assert command("report", run.path, "--open")[1].strip().endswith(f"the page is {run.path / 'report.html'}")


def test_a_history_is_drawn_and_printed(build_run, monkeypatch, command):
    for day in range(1, 8):
        change = slowed({"uvicorn": 1.5 if day >= 6 else 1 + day % 2 / 100})
        record = {"created": f"2026-11-{day:02d}T07:30:00+00:00"}
        run = build_run(labels=("gunicorn", "uvicorn"), blocks=6, name=f"day-{day}", change=change, record=record)
    monkeypatch.setattr(files, "RESULTS", run.path.parent)
    code, printed, errors = command("history", "first-look", "--output", run.path.parent / "drawn.svg")
    assert (code, errors) == (0, "")
    assert "×1.49  worse" in printed
    assert [file.name for file in run.path.parent.glob("drawn.*")] == ["drawn.svg"]
