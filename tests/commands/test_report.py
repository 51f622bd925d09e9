"""The commands that write a report again, and draw a history."""

from loadtests import files
from tests.fixtures.changes import slowed


def test_open_ends_with_where_the_page_is(build_run, monkeypatch, command):
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    run = build_run(labels=("gunicorn",), blocks=1)
    code, printed, _ = command("report", run.path, "--open")
    assert code == 0
    assert printed.strip().endswith(f"the page is {run.path / 'report.html'}")


def test_nothing_is_written_that_is_there_unless_it_is_to_be_rebuilt(build_run, command):
    run = build_run(labels=("gunicorn",), blocks=1)
    command("report", run.path)
    (run.path / "report.html").write_text("mine")
    (run.path / "summary.csv").unlink()
    assert command("report", run.path)[0] == 0
    assert ((run.path / "report.html").read_text(), (run.path / "summary.csv").exists()) == ("mine", False)
    assert command("report", run.path, "--rebuild")[0] == 0
    assert (run.path / "summary.csv").exists()


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
