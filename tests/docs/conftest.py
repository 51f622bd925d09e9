from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from loadtests.cli import app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def commands() -> dict[str, Any]:
    """All commands by what is typed: ``run``, ``hosts prepare``."""
    found: dict[str, Any] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", None)
        found |= {f"{name} {one}": command for one, command in below.items()} if below else {name: command}
    return found


@pytest.fixture(scope="session")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as HTML, built as `make docs` does: a warning is an error."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(root / "docs"), str(out)]
    built = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert built.returncode == 0, built.stderr
    return out
