"""Test the scripts that prepare virtual machines, the Vagrantfiles, and the targets of continuous integration."""

import re
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
