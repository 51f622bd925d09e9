import subprocess
import sys

import pytest
import typer

from loadtests.cli import app
from loadtests.files import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))


@pytest.fixture(scope="session")
def commands():
    """Return all commands by name, such as ``run`` or ``hosts prepare``."""
    found = {}
    for name, command in typer.main.get_command(app).commands.items():
        below = getattr(command, "commands", None)
        found |= {f"{name} {one}": command for one, command in below.items()} if below else {name: command}
    return found


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the documentation as HTML, and return its folder. As in ``make docs``, warnings are errors."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(ROOT / "docs"), str(out)]
    built = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert built.returncode == 0, built.stderr
    return out
