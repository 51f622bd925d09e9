"""Test ``run --dry-run``, which shows the plan without starting or writing anything.

See ``tests/measure`` for tests of real runs.
"""

import re
import shutil
import socket

import pytest

from loadtests import files
from loadtests.measure.study_options import StudyOptions
from loadtests.workload import sign_in

STUDY = """
title = "Two [setups]"
setups = ["gunicorn", "uvicorn", {setup = "gunicorn", label = "two", env = {WORKERS = 2}}]
blocks = 2
[tests.latency]
rate = 50
duration = "1s"
[tests.throughput]
duration = "1s"
"""
BASELINE = ["gunicorn", "Gunicorn,", "the", "baseline", "latency,", "throughput"]


@pytest.fixture
def dry_run(command):
    """Return a function that runs ``run --dry-run``, requires that it succeeds, and returns its output."""

    def run(*arguments):
        code, printed, errors = command("run", *arguments, "--dry-run")
        assert (code, errors) == (0, "")
        assert printed.endswith("Nothing was started or written.\n")
        return printed

    return run


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Yield the file of a study, and check that the test creates no other file next to it."""
    monkeypatch.setattr(files, "RESULTS", tmp_path / "results")
    file = tmp_path / "small.toml"
    file.write_text(STUDY)
    yield file
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def rows(printed):
    return [line.split() for line in printed.splitlines()]


def test_dry_run_reports_the_plan(dry_run, study, monkeypatch):
    monkeypatch.setenv("THREADS", "4")
    printed = dry_run(study)
    assert printed.startswith("Two [setups]\n12 trials in 2 blocks, about 0.9 minutes, into ")
    assert BASELINE in rows(printed)
    assert ["two", "Gunicorn", "WORKERS=2", "latency,", "throughput"] in rows(printed)
    assert "GET / at 50 requests per second" in printed
    assert re.search(r"^knobs +THREADS=4 PORT=", printed, re.MULTILINE)


def test_dry_run_reports_omitted_setups(dry_run, study):
    text = STUDY.replace("[tests.latency]", '[tests.latency]\npath = "/async/"')
    study.write_text(text.replace('"uvicorn"', '"uvicorn", "gunicorn-gevent"'))
    printed = dry_run(study, "--setups", "uvicorn,gunicorn-gevent")
    assert "left out  gunicorn-gevent, latency: it cannot run asynchronous views" in printed
    assert "\n6 trials in 2 blocks" in printed


def test_dry_run_fails_with_the_reason(command, study, free_port):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port))
        listener.listen()
        code, printed, errors = command("run", study, "--dry-run")
    assert (code, "12 trials" in printed) == (1, True)
    assert f"the run could not start: port {free_port} is used by" in errors


def test_dry_run_does_not_load_project(dry_run, study, tmp_path_factory):
    project = tmp_path_factory.mktemp("project")
    (project / "manage.py").write_text("raise SystemExit('loaded')")
    assert "the project was not loaded" in dry_run(study, "--app", project)


def test_first_named_setup_replaces_missing_baseline(dry_run, study):
    others = dry_run(study, "--setups", "two,uvicorn")
    assert ["two", "Gunicorn,", "the", "baseline", "WORKERS=2", "latency,", "throughput"] in rows(others)


def test_rate_option_sets_latency_rate(dry_run, study):
    study.write_text(STUDY.replace("rate = 50", 'rate = "auto"'))
    assert "GET / at 50% of the slowest setup's ceiling" in dry_run(study)
    printed = dry_run(study, "--rate", "120")
    assert "GET / at 120 requests per second" in printed
    assert "slowest" not in printed


def test_duplicate_baseline_option_uses_first_look(dry_run):
    printed = dry_run("--duplicate-baseline", "--setups", "gunicorn")
    assert "12 trials in 3 blocks" in printed
    assert "-first-look" in printed


def test_variant_adds_affected_setups(dry_run):
    printed = dry_run("first-look", "--setups", "granian-wsgi,gunicorn", "--variant", "granian==2.7.9")
    assert re.search(r"\ngranian-wsgi-2\.7\.9 +Granian, WSGI, granian-2\.7\.9 ", printed)
    assert "gunicorn-granian" not in printed
    assert "-first-look-variant" in printed
    everywhere = dry_run("first-look", "--variant", "Django==6.1.3", "--variant", "hopless")
    assert all(f"\n{name}-django-6.1.3  " in everywhere for name in ("gunicorn", "uvicorn", "daphne-redis"))
    assert "\nuvicorn-hopless  " in everywhere
    assert "gunicorn-hopless" not in everywhere


def test_variant_is_compared_with_its_own_setup():
    chosen = StudyOptions("first-look", setups="gunicorn,uvicorn", variants=("Django==6.1.3",)).study()
    against = {entry.label: entry.against for entry in chosen.entries if entry.variant}
    assert against == {"gunicorn-django-6.1.3": "gunicorn", "uvicorn-django-6.1.3": "uvicorn"}
    alone = StudyOptions("first-look", setups="gunicorn", variants=("Django==6.1.3",)).study()
    assert not alone.in_pairs  # the variant's setup is also the baseline


def test_checkout_is_measured_next_to_project(dry_run, tmp_path):
    branch = shutil.copytree("docs/examples/chat", tmp_path / "my branch")
    printed = dry_run("--app", "docs/examples/chat", "--variant", str(branch), "--setups", "gunicorn,uvicorn")
    assert all(f"\n{name}-my-branch  " in printed for name in ("gunicorn", "uvicorn"))


JOURNEY = 'from loadtests.journeys.base import Journey\n\nclass Mine(Journey):\n    path = "/shop/"\n'
LOGIN = ("--login", "/in/", "--login-user", "ada")


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(JOURNEY)
    return file


def test_password_of_journey_is_hidden(dry_run, monkeypatch, mine):
    printed = dry_run("--journey", mine)
    assert "the journey mine at /shop/ with 20 users" in printed
    assert "the journey mine at /shop/ at 1 new users a second" in printed
    monkeypatch.setenv(sign_in.PASSWORD, "hunter2")
    printed = dry_run("--journey", mine, *LOGIN)
    assert "the journey mine at /shop/, signed in at /in/ with 20 users" in printed
    assert "hunter2" not in printed


@pytest.mark.parametrize(
    ("arguments", "cookie", "says"),
    [
        (("--journey", "none.py"), None, "--journey none.py: must be a Python file with a journey"),
        (("first-look", "--journey", "MINE"), None, "first-look has no test with a journey"),
        (("--login", "/in/"), None, "Missing: --login-user or --login-accounts"),
        (("--login-user", "ada"), None, "Missing: --login, the login page"),
        (
            ("--login", "//evil.example/in/", "--login-user", "ada"),
            None,
            "login: must be the path of the login page, such as /accounts/login/, not '//evil.example/in/'",
        ),
        (LOGIN, "a=b", "can't be combined. Leave one out"),
        (("--journey", "MINE"), "a=b\n", "JOURNEY_COOKIE: contains characters"),
        (LOGIN, None, "JOURNEY_PASSWORD is not set. Set it to the password of ada"),
    ],
)
def test_invalid_journey_or_login_is_refused(command, monkeypatch, mine, arguments, cookie, says):
    if cookie:
        monkeypatch.setenv(sign_in.COOKIE, cookie)
    code, _, errors = command("run", *(mine if one == "MINE" else one for one in arguments), "--dry-run")
    assert (code, errors.count("\n"), says in errors) == (1, 1, True), errors


def test_login_applies_to_requests(dry_run, monkeypatch):
    monkeypatch.setenv(sign_in.PASSWORD, "hunter2")
    printed = dry_run("--app", "docs/examples/chat", "--path", "/private", *LOGIN)
    assert "GET /private, signed in at /in/" in printed
    assert "hunter2" not in printed
    assert "GET / meanwhile, signed in at /in/" in dry_run("stream", *LOGIN)
    assert "echoes of 64 B, signed in at /in/ at 500 messages" in dry_run("websockets", *LOGIN)


def test_cookie_only_affects_own_journeys(dry_run, monkeypatch):
    monkeypatch.setenv(sign_in.COOKIE, "sessionid=1")
    assert "signed in" not in dry_run("scale")
