"""django-bolt: a peer that answers a part of what the sample project does, on Python 3.12 or newer."""

import pytest

from loadtests import setups
from loadtests.setups.application import sample
from loadtests.setups.needs import missing_needs
from loadtests.setups.other_stacks import missing_python, python
from loadtests.workload import Request

EXAMPLE = "docs/examples/django-bolt.toml"
PYTHONS = ("python3.14", "python3.13", "python3.12")


@pytest.mark.parametrize(("path", "answered"), [("/db", True), ("/async/", True), ("/json", False), ("/db?a=1", False)])
def test_it_is_asked_only_what_it_has_handlers_for(path, answered):
    [bolt] = setups.find(["django-bolt"])
    found = sample().refused(bolt, (), [Request("GET", path=path)])
    alone = (
        "the project of django-bolt answers GET / and GET /async/ and GET /healthz and GET /db and GET /async/db alone"
    )
    assert found == (None if answered else alone)


def test_it_serves_no_project_of_the_users(command):
    _, printed, _ = command("run", EXAMPLE, "--app", "docs/examples/chat", "--dry-run")
    assert "left out django-bolt: it serves the project of django-bolt, and no other" in " ".join(printed.split())


@pytest.mark.parametrize("words", [("check", "gunicorn"), ("run", "first-look", "--dry-run"), ("serve", "gunicorn")])
def test_a_python_of_the_environment_that_is_not_there_is_one_clear_line(command, monkeypatch, words):
    monkeypatch.setenv("PYTHON", "python3.99")
    code, _, errors = command(*words)
    says = "error: python3.99 is not installed: make setup PYTHONS=python3.99, where pyenv or the system has python3.99"
    assert (code, " ".join(errors.split())) == (1, says)


@pytest.mark.exhaustive
@pytest.mark.servers
@pytest.mark.parametrize("name", ["django-bolt", "caddysnake-wsgi", "caddysnake-asgi"])
def test_a_server_of_newer_pythons_answers_as_the_others_do(command, monkeypatch, name):
    need = name.removesuffix("-wsgi").removesuffix("-asgi")
    able = (one for one in PYTHONS if not missing_python(one) and not missing_needs([need], python(one)))
    if missing_needs([need]) and (other := next(able, None)):
        monkeypatch.setenv("PYTHON", other)
    elif missing_needs([need]):
        pytest.skip('it needs Python 3.12 or newer: make setup PYTHONS="python3.13"')
    code, printed, _ = command("check", name)
    assert (code, "0 differences" in printed) == (0, True)
