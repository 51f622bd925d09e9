"""Test the stack of 2016 without an installation: its variables, and errors for its setups."""

import configparser
import dataclasses
import re

import pytest

from loadtests import files, setups
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


def test_address_or_own_project_is_refused(gunicorn, monkeypatch):
    assert sample().obstacle(gunicorn) is None
    own = dataclasses.replace(sample(), own=True)
    assert own.obstacle(gunicorn) == "it only serves the project of 2016"
    monkeypatch.setenv("BIND", "0.0.0.0")
    says = "the stack of 2016 has known vulnerabilities and only listens on 127.0.0.1, not on BIND=0.0.0.0"
    assert sample().obstacle(gunicorn) == says


def test_old_stack_refuses_unsupported_requests(gunicorn):
    why = "the project of 2016 answers only GET / and GET /healthz"
    for method, path, answered in (("GET", "/", True), ("GET", "/?a=1", False), ("HEAD", "/", False)):
        assert sample().refused(gunicorn, (), [Request("a", method, path)]) == (None if answered else why)


def test_versions_come_from_files(environment):
    assert other_stacks.versions([]) == {}
    assert other_stacks.versions(["2016"]) == {"stack_2016": {}}
    (environment / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.7\n")
    package = environment / "lib" / "python3.11" / "site-packages" / "Django-1.10.1.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: Django\nVersion: 1.10.1\n")
    assert other_stacks.versions(["2016", "2016"]) == {"stack_2016": {"Python": "3.11.7", "Django": "1.10.1"}}
