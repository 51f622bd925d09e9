"""Test the formats of ``compare`` for pull requests, and the action that measures a pull request."""

import json
import re
import subprocess
import sys

import django
import pytest

from loadtests.files import ROOT
from tests.fixtures.changes import slowed
from tests.fixtures.workflows import ACTION, run_step

URLS = """
from django.http import HttpResponse
from django.urls import path


def page(request):
    return HttpResponse(str(sum(range({work}))))


urlpatterns = [path("", page)]
"""


def test_summary_starts_with_failures(two, command):
    code, printed, _ = command("compare", *two, "--markdown", "--fail-if", "slower>5%")
    says = "**Failed.** slower by more than 5%: uvicorn in latency, p50 response time ×1.20; "
    assert (code, printed.splitlines()[2].startswith(says)) == (1, True)
    figures = r"3\.11 \| 3\.73 \| ×1\.20 \(.*\) \| 20% higher response time"
    assert re.search(rf"^\| uvicorn \| p50 response time \| {figures} \|", printed, re.M)
    code, passed, _ = command("compare", *two, "--markdown", "--fail-if", "slower>30%")
    assert (code, "**Passed.** slower by more than 30%: none." in passed) == (0, True)


def test_each_branch_is_compared_with_base(build_run, command):
    against = {"gunicorn-branch": "gunicorn", "uvicorn-branch": "uvicorn"}
    labels = ("gunicorn", "gunicorn-branch", "uvicorn", "uvicorn-branch")
    run = build_run(labels=labels, against=against, blocks=6, change=slowed({"uvicorn-branch": 2.0}))
    found = json.loads(command("compare", run.path, "--json")[1])
    assert (found["before"], found["after"]) == ("gunicorn and uvicorn", "gunicorn-branch and uvicorn-branch")
    rows = {(row["setup"], row["metric"]): row for row in found["comparisons"]}
    assert {row["family"] for row in rows.values()} == {len(found["comparisons"])} == {10}
    assert rows["gunicorn-branch", "p50_ms"]["ratio"]["value"] == pytest.approx(1.0, rel=0.01)
    assert rows["uvicorn-branch", "p50_ms"]["verdict"] == "slower"


@pytest.fixture
def runner(tmp_path):
    """Return the folder of a runner, whose work/ is a shallow checkout. Its last commit makes a page slower."""
    origin = tmp_path / "origin"
    origin.mkdir()
    subprocess.run([sys.executable, "-m", "django", "startproject", "mysite", origin], check=True)
    (origin / "requirements.txt").write_text(f"Django=={django.__version__}\n")
    git = ["git", "-C", origin, "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for work in (1_000, 100_000):
        (origin / "mysite/urls.py").write_text(URLS.format(work=work))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", f"work: {work}"], check=True)
    clone = ["git", "clone", "--quiet", "--depth", "1", origin.as_uri(), tmp_path / "work"]
    subprocess.run(clone, check=True)
    (tmp_path / "temp").mkdir()
    return tmp_path


def step(runner, name, inputs=(), **env):
    """Run a step of the action."""
    folders = {"RUNNER_TEMP": str(runner / "temp"), "GITHUB_STEP_SUMMARY": str(runner / "summary.md")}
    return run_step(ACTION, name, runner / "work", inputs, **folders, **env)


@pytest.mark.exhaustive
@pytest.mark.timeout(400)
@pytest.mark.parametrize("slower", [0.0, 0.2])
def test_action_fails_if_branch_is_slower(runner, build_run, slower):
    ended = step(runner, "Check out both sides")
    assert ended.returncode == 0, ended.stderr
    assert "range(1000)" in (runner / "temp/base/mysite/urls.py").read_text()
    assert "range(100000)" in (runner / "temp/branch/mysite/urls.py").read_text()
    command = runner / "temp/benchmark/bin/loadtests"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m loadtests "$@"\n')
    command.chmod(0o755)
    found = runner / "temp/performance"
    found.mkdir()
    labels, against = ("gunicorn", "gunicorn-branch"), {"gunicorn-branch": "gunicorn"}
    change = slowed({"gunicorn-branch": 1 + slower}, rate=True)
    build_run(labels=labels, against=against, blocks=8, change=change).path.rename(found / "run")
    ended = step(runner, "Compare")
    assert ended.returncode == (slower > 0), ended.stderr
    word = "Failed" if slower else "Passed"
    assert f"**{word}.** slower by more than 5%" in (runner / "summary.md").read_text()


@pytest.mark.exhaustive
@pytest.mark.servers
@pytest.mark.timeout(1500)
def test_action_measures_base_and_branch(runner, free_port):
    checkout = runner / "benchmark"
    checkout.mkdir()
    copy = f"git ls-files -z ':!results' ':!docs' | tar --null -cT- | tar -xC {checkout}"
    subprocess.run(copy, cwd=ROOT, shell=True, check=True)
    inputs = {
        "blocks": "1",
        "path": "/ /?page=2",
        "setup-command": "python manage.py migrate",
        "options": "--quick --ignore-busy",
    }
    env = {
        "GITHUB_ACTION_PATH": str(checkout / ACTION.parent.relative_to(ROOT)),
        "XDG_CACHE_HOME": str(runner / "cache"),
        "PORT": str(free_port),
        "PIP_NO_COMPILE": "1",  # compiling the packages would take most of the test's time
    }
    for name in ("Install the benchmark", "Check out both sides", "Install the project", "Measure"):
        ended = step(runner, name, inputs, **env)
        # The machine is busy with other tests, so `run` may report invalid trials.
        assert ended.returncode == 0 or name == "Measure", ended.stdout + ended.stderr
    files = (runner / "temp/performance/run/trials").glob("*-throughput*.json")
    found = [json.loads(file.read_text()) for file in files]
    assert found, ended.stdout + ended.stderr
    rates = {
        name: [one["result"]["rate"] for one in found if one["label"] == name]
        for name in ("gunicorn", "gunicorn-branch")
    }
    assert min(rates["gunicorn"]) > max(rates["gunicorn-branch"])
