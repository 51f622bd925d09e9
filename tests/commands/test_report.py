"""The command that writes a report anew."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from loadtests.cli import app
from loadtests.records.run.folder import Run


def test_open_ends_with_where_the_page_is(build_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    run = build_run(labels=("gunicorn",), blocks=1)
    said = CliRunner().invoke(app, ["report", str(run.path), "--open"], catch_exceptions=False)
    assert said.exit_code == 0
    assert said.output.strip().endswith(f"the page is {run.path / 'report.html'}")
