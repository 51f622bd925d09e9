"""Test the stack of 2016 without an installation: its variables, and errors for its setups."""

import configparser
import dataclasses
import os
import re
import shutil
import subprocess
import sys

import pytest

from loadtests import files, setups
from loadtests.plan import study as studies
from loadtests.setups import other_stacks
from loadtests.setups.application import sample
from loadtests.workload import Request

STACK = files.ROOT / "stacks" / "2016"
SETUPS = ["2016-daphne-ipc", "2016-daphne-redis", "2016-gunicorn"]
NOT_MADE = "stack-2016 is not installed: make stack-2016, with Python 3.11 or 3.10"


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Return the folder for the stack's environment, which is empty at first."""
    monkeypatch.setattr(other_stacks, "FOLDER", tmp_path / "stacks")
    monkeypatch.delenv("BIND", raising=False)
    folder = tmp_path / "stacks" / "2016" / ".venv"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def gunicorn(environment):
    """Simulate an installed stack, and return its setup that needs no other program."""
    (environment / ".ready").touch()
    return setups.find(["2016-gunicorn"])[0]


@pytest.mark.parametrize("name", SETUPS)
def test_old_setup_ignores_bind(name):
    [setup] = setups.find([name])
    config = configparser.RawConfigParser(inline_comment_prefixes=(";",))
    config.read(setup.file)
    commands = [config[section]["command"] for section in config.sections() if "command" in config[section]]
    scripts = [(files.ROOT / script).read_text() for script in re.findall(r"stacks/2016/\w+\.sh", " ".join(commands))]
    given = " ".join([*commands, *scripts])
    assert "--bind 127.0.0.1" in given
    assert "BIND" not in given
    assert "0.0.0.0" not in given


def test_missing_stack_has_a_remedy(environment, command, refused, tmp_path):
    assert all("stack-2016" in setup.needs for setup in setups.find(SETUPS))
    study = tmp_path / "mine.toml"
    study.write_text('setups = ["gunicorn", "2016-gunicorn"]\n[tests.throughput]\nduration = "1s"\n')
    code, printed, _ = command("run", study, "--dry-run")
    assert code == 0
    assert f"left out  2016-gunicorn: {NOT_MADE}" in printed
    assert f"2016-gunicorn, can't be served: {NOT_MADE}" in refused("run", "ten-years", "--dry-run")


def test_old_setups_are_compared_with_successors():
    ten_years = studies.load("ten-years")
    assert {entry.setup for entry in ten_years.entries} == {*SETUPS, *(name.removeprefix("2016-") for name in SETUPS)}
    assert all((entry.env == {"STACK_SETTINGS": "today"}) == (entry.setup in SETUPS) for entry in ten_years.entries)
    for study in (ten_years, studies.load("2016-stack")):
        assert not study.interleave
        assert {test.warmup_s for test in study.tests} == {0}
    assert setups.find(["2016-daphne-ipc"])[0].wrong


def test_address_or_own_project_is_refused(gunicorn, monkeypatch):
    assert sample().obstacle(gunicorn) is None
    own = dataclasses.replace(sample(), own=True)
    assert own.obstacle(gunicorn) == "it only serves the project of 2016"
    monkeypatch.setenv("BIND", "0.0.0.0")
    says = "the stack of 2016 has known vulnerabilities and only listens on 127.0.0.1, not on BIND=0.0.0.0"
    assert sample().obstacle(gunicorn) == says


@pytest.mark.parametrize(
    ("method", "path", "answered"),
    [
        ("GET", "/", True),
        ("GET", "/healthz", True),
        ("GET", "/json", False),
        ("GET", "/?a=1", False),
        ("HEAD", "/", False),
    ],
)
def test_old_stack_refuses_unsupported_requests(gunicorn, method, path, answered):
    why = None if answered else "the project of 2016 answers only GET / and GET /healthz"
    assert sample().refused(gunicorn, (), [Request("a", method, path)]) == why


def test_old_stack_is_not_profiled(gunicorn, refused):
    says = "2016-gunicorn: profile doesn't support the stack of 2016"
    assert says in refused("profile", "2016-gunicorn")


def test_versions_come_from_files(environment):
    assert other_stacks.versions([]) == {}
    assert other_stacks.versions(["2016"]) == {"stack_2016": {}}
    (environment / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.7\n")
    package = environment / "lib" / "python3.11" / "site-packages" / "Django-1.10.1.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: Django\nVersion: 1.10.1\n")
    assert other_stacks.versions(["2016", "2016"]) == {"stack_2016": {"Python": "3.11.7", "Django": "1.10.1"}}


def test_all_packages_are_pinned():
    lines = [line.partition("#")[0].strip() for line in (STACK / "requirements.txt").read_text().splitlines()]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines if line)


def test_missing_python_error_names_version(tmp_path):
    tools, newest = tmp_path / "bin", tmp_path / "python3.14"
    tools.mkdir()
    (tools / "dirname").symlink_to(shutil.which("dirname"))
    shutil.copy(STACK / "make.sh", tmp_path)
    newest.write_text("#!/bin/sh\nexit 1\n")
    newest.chmod(0o755)
    for arguments, says in (
        ((), "This stack needs Python 3.11 or 3.10 with its venv module. Install Python 3.11 ("),
        ((str(newest),), f"{newest} is not suitable. This stack needs Python 3.11 or 3.10"),
    ):
        made = subprocess.run(
            [shutil.which("sh"), tmp_path / "make.sh", *arguments],
            env={"PATH": str(tools), "HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert (made.returncode, made.stdout, made.stderr.count("\n")) == (1, "", 1)
        assert made.stderr.startswith(f"stack-2016: {says}")
    assert not (tmp_path / ".venv").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_only_stack_targets_build_stacks():
    def would_do(*targets):
        command = ["make", "--dry-run", "--always-make", *targets]
        env = {**os.environ, "MAKEFLAGS": ""}
        return subprocess.run(command, cwd=files.ROOT, env=env, capture_output=True, text=True, check=True).stdout

    assert "stacks/" not in would_do("setup", "bench", "test", "test-quick", "lint", "docs")
    assert "stacks/2016/make.sh" in would_do("stack-2016")


def test_removed_python_features_are_restored():
    program = (
        "import python_of_2016, collections, gettext, inspect\n"
        "assert issubclass(dict, collections.Mapping)\n"
        "assert inspect.getargspec(lambda a, *b, **d: 0)[:3] == (['a'], 'b', 'd')\n"
        "found = gettext.translation('none', fallback=True, codeset='utf-8')\n"
        "found.set_output_charset('utf-8')\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", program]
    subprocess.run(command, cwd=STACK / "shim", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, check=True)
