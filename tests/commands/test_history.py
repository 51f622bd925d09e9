"""The command that draws a study's history."""

import dataclasses

from typer.testing import CliRunner

from loadtests import files
from loadtests.cli import app


def test_it_draws_and_prints(build_run, monkeypatch):
    for day in range(1, 8):

        def change(label, test, block, result, times=1.5 if day >= 6 else 1 + day % 2 / 100):
            later = {key: value * times for key, value in result.response_time_ms.items()}
            return dataclasses.replace(result, response_time_ms=later) if label == "uvicorn" else result

        record = {"created": f"2026-11-{day:02d}T07:30:00+00:00"}
        run = build_run(labels=("gunicorn", "uvicorn"), blocks=6, name=f"day-{day}", change=change, record=record)
    monkeypatch.setattr(files, "RESULTS", run.path.parent)
    result = CliRunner().invoke(app, ["history", "first-look", "--output", str(run.path.parent / "drawn.svg")])
    assert result.exit_code == 0, result.output
    assert "×1.49  worse" in result.output
    assert [file.name for file in run.path.parent.glob("drawn.*")] == ["drawn.svg"]
