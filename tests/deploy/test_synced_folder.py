"""A Vagrant provider that copies the project into the machine: what was made there stays, and can be fetched."""

import os
import re
import shutil
import subprocess

import pytest

from loadtests.files import ROOT

if not shutil.which("rsync"):
    pytest.skip("rsync is not installed", allow_module_level=True)

MADE_THERE = ("results/mine/run.json", ".venv/bin/python", "node_modules/a/index.js", "generators/k6")


def write(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


@pytest.fixture
def host(tmp_path):
    write(tmp_path / "host", "README.md", "results/reference/run.json")
    return tmp_path / "host"


@pytest.fixture
def guest(tmp_path):
    write(tmp_path / "guest", "removed.py", *MADE_THERE)
    return tmp_path / "guest"


def test_copying_the_project_again_keeps_runs_and_environments(host, guest):
    """With the arguments of the Vagrantfile, as Vagrant hands them to rsync."""
    text = (ROOT / "Vagrantfile").read_text()
    options = re.search(r"rsync__args: \[(.*)\]", text)[1], re.search(r"rsync__exclude: \[(.*)\]", text)[1]
    arguments, excluded = (re.findall(r'"([^"]*)"', option) for option in options)
    subprocess.run(
        ["rsync", *arguments, *(f"--exclude={name}" for name in excluded), f"{host}/", f"{guest}/"], check=True
    )
    found = {str(file.relative_to(guest)) for file in guest.rglob("*") if file.is_file()}
    assert found == {"README.md", "results/reference/run.json", *MADE_THERE}


@pytest.fixture
def project(host, guest, tmp_path):
    """A project whose machine is a folder: stand-ins for vagrant and ssh."""
    write(host, "deploy/vagrant/x")
    shutil.copy(ROOT / "deploy" / "vagrant" / "results.sh", host / "deploy" / "vagrant")
    programs = tmp_path / "bin"
    programs.mkdir()
    # ssh -F FILE default rsync --server ... /vagrant/results/
    stand_ins = {
        "vagrant": '[ -z "$DOWN" ] && echo Host default',
        "ssh": f'shift 3; exec $(echo "$@" | sed s,/vagrant,{guest},)',
    }
    for name, script in stand_ins.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)

    def run(**environment):
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "DOWN": "", **environment}
        command = [host / "deploy" / "vagrant" / "results.sh"]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    return run


def test_runs_are_fetched_and_those_here_left_alone(project, host, guest):
    write(guest, "results/reference/run.json")
    (guest / "results/reference/run.json").write_text("another")
    found = project()
    assert found.returncode == 0, found.stderr
    assert (host / "results/mine/run.json").read_text() == "results/mine/run.json"
    assert (host / "results/reference/run.json").read_text() == "results/reference/run.json"


def test_without_a_machine_one_line_says_so(project):
    found = project(DOWN="1")
    assert found.returncode == 1
    assert found.stderr == "vm-results: no machine is up here; `vagrant up` starts it\n"
