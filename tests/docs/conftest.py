from __future__ import annotations

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
