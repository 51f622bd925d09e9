"""``run --dry-run`` and ``run --setups``: what would be run, and nothing is."""

import re
import socket

import pytest

from loadtests import files

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


@pytest.fixture
def study(tmp_path, monkeypatch, free_port):
    """A study's file, alone in its folder."""
    monkeypatch.setenv("PORT", str(free_port))
    monkeypatch.setattr(files, "RESULTS", tmp_path / "results")
    file = tmp_path / "small.toml"
    file.write_text(STUDY)
    yield file
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def rows(printed):
    return [line.split() for line in printed.splitlines()]


def test_setups_tests_knobs_and_how_long_it_takes_are_reported(command, study, monkeypatch):
    monkeypatch.setenv("THREADS", "4")
    code, printed, _ = command("run", study, "--dry-run", "--seed", "7")
    assert code == 0
    assert printed.startswith("Two [setups]\n12 trials in 2 blocks, about 0.9 minutes, into ")
    assert ["gunicorn", "Gunicorn,", "the", "baseline", "latency,", "throughput"] in rows(printed)
    assert ["two", "Gunicorn", "WORKERS=2", "latency,", "throughput"] in rows(printed)
    assert "GET / at 50 requests per second" in printed
    assert re.search(r"^knobs +THREADS=4 PORT=", printed, re.MULTILINE)
    assert "7. The first block: latency: " in printed
    assert printed.endswith("Nothing was started, and nothing was written.\n")


def test_what_would_be_left_out_is_reported_with_its_reason(command, study):
    study.write_text(STUDY.replace("[tests.latency]", '[tests.latency]\npath = "/async/"'))
    study.write_text(study.read_text().replace('"uvicorn"', '"uvicorn", "gunicorn-gevent"'))
    code, printed, _ = command("run", study, "--dry-run", "--setups", "uvicorn,gunicorn-gevent")
    assert code == 0
    assert "left out  gunicorn-gevent, latency: it cannot run asynchronous views" in printed
    assert "3 trials" not in printed
    assert "6 trials in 2 blocks" in printed


def test_a_run_that_would_not_begin_fails_with_the_reason(command, study, free_port):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port))
        listener.listen()
        code, printed, errors = command("run", study, "--dry-run")
    assert code == 1
    assert "12 trials" in printed
    assert f"it would not begin: port {free_port} is taken by" in errors


def test_a_project_is_not_loaded(command, study, tmp_path_factory):
    project = tmp_path_factory.mktemp("project")
    (project / "manage.py").write_text("raise SystemExit('loaded')")
    code, printed, _ = command("run", study, "--app", project, "--dry-run")
    assert code == 0
    assert "the project was not loaded" in printed


def test_only_the_setups_that_are_named_are_run(command, study):
    _, printed, _ = command("run", study, "--dry-run", "--setups", "two, gunicorn")
    assert "8 trials in 2 blocks" in printed
    assert ["gunicorn", "Gunicorn,", "the", "baseline", "latency,", "throughput"] in rows(printed)


def test_without_the_baseline_the_first_that_is_named_is_it(command, study):
    _, printed, _ = command("run", study, "--dry-run", "--setups", "two,uvicorn")
    assert ["two", "Gunicorn,", "the", "baseline", "WORKERS=2", "latency,", "throughput"] in rows(printed)


@pytest.mark.parametrize(
    ("name", "chosen", "says"),
    [
        ("first-look", "uvicron", "unknown setup in first-look 'uvicron'; did you mean uvicorn"),
        ("first-look", "gunicorn,", "unknown setup in first-look ''; there are: daphne, "),
        ("sweep", "1w-1t", "sweep is a sweep, whose cells are compared as a whole"),
    ],
)
def test_what_is_not_in_the_study_is_named(refused, name, chosen, says):
    assert says in refused("run", name, "--setups", chosen)


def test_a_rate_of_ones_own_is_that_of_all_latency_tests(command, study):
    study.write_text(STUDY.replace("rate = 50", 'rate = "auto"'))
    assert "GET / at 50% of what the slowest setup holds" in command("run", study, "--dry-run")[1]
    printed = command("run", study, "--dry-run", "--rate", "120")[1]
    assert "GET / at 120 requests per second" in printed
    assert "slowest" not in printed


@pytest.mark.parametrize("rate", ["0", "-1", "nan", "1e9"])
def test_a_rate_that_cannot_be_is_one_line(refused, study, rate):
    assert "--rate" in refused("run", study, "--dry-run", "--rate", rate)
