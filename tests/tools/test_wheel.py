"""Test the wheel, which is installed outside the repository."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest

from loadtests.files import ROOT
from tests.fixtures.command import a_free_port

STUDY = """
title = "One server"
question = "Does the wheel measure?"
setups = ["gunicorn"]
blocks = 1
interleave = false
tests.latency = { rate = 20, duration = "1s", warmup = "100ms" }
"""


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    """Return an environment with the wheel. The harness's dependencies come from the current environment."""
    folder = tmp_path_factory.mktemp("installed")
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    [packages] = (folder / "venv").glob("lib/python*/site-packages")
    (packages / "here.pth").write_text(sysconfig.get_path("purelib") + "\n")
    [wheel] = folder.glob("*.whl")
    run(*pip, "--python", folder / "venv/bin/python", "install", "--no-deps", wheel)
    return folder / "venv"


@pytest.mark.exhaustive
@pytest.mark.servers
def test_wheel_measures_a_project(venv, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    run(sys.executable, "-m", "django", "startproject", "mysite", cwd=tmp_path)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env = {**inherited, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PORT": str(a_free_port())}
    command = (venv / "bin/loadtests", "run", "../study.toml", "--app", ".", "--ignore-busy")
    printed = run(*command, cwd=tmp_path / "mysite", env=env)
    [found] = (tmp_path / "mysite" / "results").iterdir()
    assert (found / "report.html").is_file(), printed
    record = json.loads((found / "run.json").read_text())
    assert record["git"]["revision"] is None
    created = {folder.name for folder in (tmp_path / "cache" / "django-serving-benchmark").glob("*/")}
    assert created <= {"overlays", "pycache"}  # the run created no sample environment or Node packages
    assert not [*venv.glob("lib/*/site-packages/results")]
