"""Test the scripts that prepare virtual machines, the Vagrantfiles, and the targets of continuous integration."""

import re
import shutil
import subprocess

import pytest

from loadtests.files import ROOT

SCRIPTS = ("provision.sh", "try-in-debootstrap.sh", "vagrant/local-folders.sh", "vagrant/debian-box.sh")


def text_of(file):
    return (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCRIPTS)
def test_machine_scripts_are_posix_shell(name):
    script = ROOT / "deploy" / name
    assert script.read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    assert script.stat().st_mode & 0o111
    subprocess.run(["sh", "-n", str(script)], check=True)


def test_provisioning_finds_required_versions():
    patterns = re.findall(r"""sed -n '([^']+)' "\$project/([a-z.]+)\"""", text_of("deploy/provision.sh"))
    assert {file for _, file in patterns} == {"pyproject.toml", "package.json"}
    for pattern, file in patterns:
        version = subprocess.run(["sed", "-n", pattern, str(ROOT / file)], capture_output=True, text=True).stdout
        assert re.fullmatch(r"\d+(\.\d+)+\n", version), file


def test_scripts_of_vagrantfile_exist():
    paths = re.findall(r'path: "([^"]+)"', text_of("Vagrantfile"))
    assert len(paths) == 2
    assert all((ROOT / path).is_file() for path in paths)


@pytest.mark.skipif(shutil.which("vagrant") is None, reason="vagrant is not installed")
@pytest.mark.parametrize("folder", [".", "deploy/vagrant"], ids=["one machine", "a pair"])
def test_vagrant_accepts_the_vagrantfile(tmp_path, folder):
    """Validate a copy of the Vagrantfile, because Vagrant writes files to its folder."""
    shutil.copy(ROOT / folder / "Vagrantfile", tmp_path)
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    command = ["vagrant", "validate", "--ignore-provider"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr


def test_workflow_runs_targets_of_script():
    ours = re.findall(r"^make \w+$", text_of(".ci/run"), re.MULTILINE)
    assert ours
    assert set(ours) <= set(re.findall(r"- run: (make \w+)$", text_of(".github/workflows/ci.yml"), re.MULTILINE))
