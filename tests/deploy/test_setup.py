"""`make setup` installs into .venv whatever the shell and pip.conf say of other environments, and checks it."""

import os
import shutil
import subprocess
import sys

import pytest

from loadtests.files import ROOT

PACKAGE = "six==1.17.0"  # small, and needed by nothing here that is asked for directly


@pytest.fixture
def project(tmp_path):
    """A project of one package, in a folder of its own."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.txt").write_text(f"{PACKAGE}\n")
    return tmp_path


def setup(project, **environment):
    command = ["make", ".venv/.ready", f"PYTHON={sys.executable}"]
    environment = {**os.environ, "PATH": f"{project}:{os.environ['PATH']}", **environment}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_packages_of_another_environment_do_not_stand_in_for_ours(project):
    others = project / "others"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", others, PACKAGE], check=True)
    config = project / "pip.conf"
    config.write_text("[install]\nuser = true\n")
    found = setup(project, PYTHONPATH=str(others), PIP_CONFIG_FILE=str(config))
    assert found.returncode == 0, found.stderr
    assert list(project.glob(".venv/lib/*/site-packages/six.py"))


@pytest.mark.exhaustive
@pytest.mark.slow
def test_an_environment_that_is_not_complete_is_not_ready(project):
    """A pip that installs nothing, and says that all is well."""
    pip = project / "install.sh"
    pip.write_text('#!/bin/sh\ncase "$*" in *dry-run*|check) exec "${0%/*}/pip3" "$@" ;; esac\n')
    makefile = (project / "Makefile").read_text()
    made = "$(PYTHON) -m venv $(VENV)\n"
    assert made in makefile
    (project / "Makefile").write_text(makefile.replace(made, f"{made}\tinstall -m 755 install.sh $(BIN)/pip\n"))
    found = setup(project)
    assert found.returncode != 0
    assert "No matching distribution found for six" in found.stderr
    assert ".venv is not complete; try: make clean setup" in found.stderr
    assert not (project / ".venv/.ready").exists()
