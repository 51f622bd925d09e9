"""The knob PYTHON: the sample project on another Python, in an environment that `make setup PYTHONS=...` makes; and
django-bolt, a peer that answers a part of it, on Python 3.12 or newer."""

import json
import os
import subprocess
import sys

import pytest

from loadtests import files, setups
from loadtests.setups import other_stacks
from loadtests.setups.application import sample
from loadtests.setups.needs import missing_needs
from loadtests.workload import Request
from tools import pythons

STUDY = """
setups = ["gunicorn", {{ setup = "{setup}", label = "other", env = {{ PYTHON = "python3.13" }} }}]
blocks = 1
[tests.throughput]
duration = "500ms"
warmup = "0s"
"""
BOLT = "docs/examples/django-bolt.toml"
NEWER = ("python3.14", "python3.13", "python3.12")
NOT_MADE = "{0} is not installed: make setup PYTHONS={0}, where pyenv or the system has {0}"


@pytest.fixture
def study(tmp_path):
    """A function: the file of a study of Gunicorn, and of a setup on Python 3.13."""

    def write(setup):
        file = tmp_path / "two.toml"
        file.write_text(STUDY.format(setup=setup))
        return file

    return write


@pytest.mark.parametrize(
    ("setup", "made", "why"),
    [
        ("gunicorn", False, NOT_MADE.format("python3.13")),
        ("gunicorn", True, "gunicorn is not installed: pip install gunicorn"),  # into that environment
        ("daphne-redis", True, "PYTHON only works for WSGI and ASGI setups without services, on this machine"),
    ],
)
def test_missing_python_has_a_remedy(command, study, tmp_path, monkeypatch, setup, made, why):
    monkeypatch.setattr(other_stacks, "FOLDER", tmp_path)
    if made:
        (tmp_path / "python3.13/.venv/bin").mkdir(parents=True)
        (tmp_path / "python3.13/.venv/.ready").touch()
    code, printed, _ = command("run", study(setup), "--dry-run")
    assert code == 0
    assert f"left out other: {why}" in " ".join(printed.split())


@pytest.mark.parametrize("words", [("check", "gunicorn"), ("run", "first-look", "--dry-run"), ("serve", "gunicorn")])
def test_missing_environment_python_is_reported(command, monkeypatch, words):
    monkeypatch.setenv("PYTHON", "python3.99")
    code, _, errors = command(*words)
    assert (code, " ".join(errors.split())) == (1, f"error: {NOT_MADE.format('python3.99')}")


def test_own_project_ignores_python_knob(command, study):
    for file, says in (
        (study("gunicorn"), "other: PYTHON only works with the sample project"),
        (BOLT, "left out django-bolt: it serves the project of django-bolt, and no other"),
    ):
        _, printed, _ = command("run", file, "--app", "docs/examples/chat", "--dry-run")
        assert says in " ".join(printed.split())


def test_missing_python_starts_no_server():
    script = ". supervisor/defaults.sh && echo started"
    env = {**os.environ, "PYTHON": "python3.99"}
    ended = subprocess.run(["sh", "-c", script], cwd=files.ROOT, env=env, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "defaults.sh: PYTHON=python3.99 is not installed; try: make setup PYTHONS=python3.99\n"


def test_python_is_found_in_pyenv(tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    shim, older, newest, without_the_gil = (
        tmp_path / "bin/python3.13",
        tmp_path / "versions/3.13.2/bin/python3.13",
        tmp_path / "versions/3.13.10/bin/python3.13",
        tmp_path / "versions/3.13.10t/bin/python3.13t",
    )
    for program in (shim, older, newest, without_the_gil):
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\nexit {127 if program is shim else 0}\n")  # pyenv's shims do not all work
        program.chmod(0o755)
    assert [pythons.find(name) for name in ("python3.13", "python3.13t")] == [str(newest), str(without_the_gil)]


def test_unavailable_python_is_omitted(capsys, monkeypatch):
    monkeypatch.setattr(pythons, "find", lambda name: None)
    pythons.main(["python3.14t"])
    assert capsys.readouterr().out == (
        "python3.14t is not there, and left out; try: pyenv install 3.14t, or apt-get install python3.14t-venv\n"
    )
    with pytest.raises(SystemExit, match=r"'3\.14' is no name such as python3\.13"):
        pythons.main(["3.14"])


def test_installed_package_is_measured():
    names = "\n".join(pythons.measured())
    assert all(name in names for name in ("Django==", "gunicorn==", "uvicorn==", "packages/hopless"))
    assert not any(name in names for name in ("numpy", "sphinx", "pytest"))


@pytest.mark.exhaustive
@pytest.mark.servers
def test_a_setup_runs_on_another_python(command, study, tmp_path, monkeypatch):
    names = (name for name in ("python3.13", "python3.12", "python3.11") if not other_stacks.missing_python(name))
    if (name := next(names, None)) is None:
        pytest.skip('no other Python: make setup PYTHONS="python3.13"')
    file = study("gunicorn-gthread")
    file.write_text(file.read_text().replace("python3.13", name))
    command("run", file, "--output", tmp_path / "run", "--ignore-busy")
    versions = json.loads((tmp_path / "run/run.json").read_text())["versions"][f"stack_{name}"]
    assert versions["Python"].startswith(name.removeprefix("python"))
    assert sys.version_info[:2] != tuple(map(int, versions["Python"].split(".")[:2]))
    assert {"Django", "gunicorn"} <= versions.keys()


ALONE = "the project of django-bolt answers GET / and GET /async/ and GET /healthz and GET /db and GET /async/db alone"


@pytest.mark.parametrize(("path", "why"), [("/db", None), ("/async/", None), ("/json", ALONE), ("/db?a=1", ALONE)])
def test_peer_gets_only_known_requests(path, why):
    [bolt] = setups.find(["django-bolt"])
    assert sample().refused(bolt, (), [Request("GET", path=path)]) == why


@pytest.mark.exhaustive
@pytest.mark.servers
@pytest.mark.parametrize("name", ["django-bolt", "caddysnake-wsgi", "caddysnake-asgi"])
def test_newer_python_server_answers_equally(command, monkeypatch, name):
    need = name.removesuffix("-wsgi").removesuffix("-asgi")
    made = (one for one in NEWER if not other_stacks.missing_python(one))
    able = (one for one in made if not missing_needs([need], other_stacks.python(one)))
    if missing_needs([need]) and (other := next(able, None)):
        monkeypatch.setenv("PYTHON", other)
    elif missing_needs([need]):
        pytest.skip('it needs Python 3.12 or newer: make setup PYTHONS="python3.13"')
    code, printed, _ = command("check", name)
    assert (code, "0 differences" in printed) == (0, True)
