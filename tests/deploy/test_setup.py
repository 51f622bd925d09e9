"""Test that ``make setup`` installs into .venv regardless of PYTHONPATH and pip.conf, and checks the result."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from loadtests.files import ROOT
from loadtests.setups import environment

PACKAGE = "six==1.17.0"  # a small package that no other package requires


@pytest.fixture
def project(tmp_path):
    """Return the folder of a project with the Makefile and a single requirement."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "imports.py", tmp_path / "tools")
    (tmp_path / "requirements.txt").write_text(f"{PACKAGE}\n")
    return tmp_path


def setup(project, **environment):
    command = ["make", ".venv/.ready", f"PYTHON={sys.executable}"]
    environment = {**os.environ, "PATH": f"{project}:{os.environ['PATH']}", **environment}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_incomplete_environment_is_reported(project):
    """Check that a package that .venv lacks is reported, even if another folder contains the package."""
    others = project / "others"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", others, PACKAGE], check=True)
    config = project / "pip.conf"
    config.write_text("[install]\nuser = true\n")
    found = setup(project, PYTHONPATH=str(others), PIP_CONFIG_FILE=str(config))
    assert found.returncode == 0, found.stderr
    [module] = project.glob(".venv/lib/*/site-packages/six.py")

    (project / ".venv/.ready").unlink()
    module.unlink()
    found = setup(project)
    assert found.returncode != 0
    assert "six: import six: ModuleNotFoundError: No module named 'six'" in found.stderr
    assert ".venv is not complete; try: make clean setup" in found.stderr
    assert not (project / ".venv/.ready").exists()


@pytest.fixture
def programs(tmp_path_factory):
    """Return a folder with the programs on PATH, except Node and npm."""
    folder = tmp_path_factory.mktemp("programs")
    for program in (one for path in os.get_exec_path() if os.path.isdir(path) for one in os.scandir(path)):
        if program.name not in ("node", "npm") and not (folder / program.name).is_symlink():
            (folder / program.name).symlink_to(program.path)
    return folder


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_old_node_is_replaced(project, programs):
    for name in ("node", "npm"):
        (programs / name).write_text("#!/bin/sh\necho v18.19.0\n")
        (programs / name).chmod(0o755)
    (project / "package.json").write_text('{"engines": { "node": ">=20.18.1" }}\n')
    found = setup(project, PATH=str(programs))
    assert found.returncode == 0, found.stderr
    assert "npm or Node v20.18.1 is missing, so both are installed into .venv\n" in found.stdout
    path = f"{project / '.venv/bin'}:{programs}"
    npm = subprocess.run(
        ["npm", "version", "--json"], env={"PATH": path}, cwd=project, stdout=subprocess.PIPE, check=True
    )
    assert json.loads(npm.stdout)["node"].startswith("24.")


@pytest.mark.parametrize("file", ["Makefile", "deploy/provision.sh"])
def test_node_versions_agree(file):
    assert environment.NODE[0] in (ROOT / file).read_text(encoding="utf-8")
