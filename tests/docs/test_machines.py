"""What sets machines up: the virtual machine, and continuous integration."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = ("provision.sh", "try-in-debootstrap.sh", "vagrant/local-folders.sh", "vagrant/debian-box.sh")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_one_for_any_posix_shell(root: Path, name: str) -> None:
    script = root / "deploy" / name
    assert script.read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    assert script.stat().st_mode & 0o111
    subprocess.run(["sh", "-n", str(script)], check=True)


def test_provisioning_finds_the_versions_that_the_project_needs(root: Path) -> None:
    script = (root / "deploy/provision.sh").read_text(encoding="utf-8")
    found = {
        file: subprocess.run(["sed", "-n", pattern, str(root / file)], capture_output=True, text=True).stdout
        for pattern, file in re.findall(r"""sed -n '([^']+)' "\$project/([a-z.]+)\"""", script)
    }
    assert set(found) == {"pyproject.toml", "package.json"}
    for file, version in found.items():
        assert re.fullmatch(r"\d+(\.\d+)+\n", version), file


def test_the_vagrantfile_names_scripts_that_exist(root: Path) -> None:
    paths = re.findall(r'path: "([^"]+)"', (root / "Vagrantfile").read_text(encoding="utf-8"))
    assert len(paths) == 2
    assert all((root / path).is_file() for path in paths)


@pytest.mark.skipif(shutil.which("vagrant") is None, reason="vagrant is not installed")
@pytest.mark.parametrize("folder", [".", "deploy/vagrant"], ids=["one machine", "a pair"])
def test_vagrant_accepts_the_vagrantfile(root: Path, tmp_path: Path, folder: str) -> None:
    """In a folder of its own, where vagrant may leave what it likes."""
    shutil.copy(root / folder / "Vagrantfile", tmp_path)
    shutil.copytree(root / "deploy", tmp_path / "deploy")
    command = ["vagrant", "validate", "--ignore-provider"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr


def test_hosted_integration_calls_the_targets_of_ours(root: Path) -> None:
    ours = re.findall(r"^make \w+$", (root / ".ci/run").read_text(encoding="utf-8"), flags=re.MULTILINE)
    hosted = re.findall(r"- run: (make \w+)$", (root / ".github/workflows/ci.yml").read_text(encoding="utf-8"), re.M)
    assert ours
    assert set(ours) <= set(hosted)
