"""Test variants: their names, the setups that they change, and the environments that they create."""

import json

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.measure.study_options import StudyOptions
from loadtests.setups import interpreters
from loadtests.setups.application import overlay, project
from loadtests.setups.needs import missing_needs
from loadtests.setups.variants import parse, parse_environment

STUDY = """
setups = ["gunicorn", {{ setup = "{setup}", label = "other", variant = ["{variant}"] }}]
blocks = 1
[tests.throughput]
duration = "500ms"
warmup = "0s"
"""
NEWER = ("3.14", "3.13", "3.12")


@pytest.fixture
def study(tmp_path):
    """Return a function that writes a study of Gunicorn and of a setup with a variant.

    The function returns the study's file.
    """

    def write(setup, variant):
        file = tmp_path / "two.toml"
        file.write_text(STUDY.format(setup=setup, variant=variant))
        return file

    return write


@pytest.mark.parametrize(
    ("text", "kept", "label"),
    [
        ("granian == 2.7.9", "granian==2.7.9", "granian-wsgi-2.7.9"),
        ("Django==6.1.3", "Django==6.1.3", "granian-wsgi-django-6.1.3"),
        ("python==3.14t", "python=3.14t", "granian-wsgi-python-3.14t"),
        ("hopless", "hopless", "granian-wsgi-hopless"),
        ("granian @ git+file:///x/granian@fix/1", "granian @ git+file:///x/granian@fix/1", "granian-wsgi-source"),
        ("granian @ git+file:///x/granian@main", "granian @ git+file:///x/granian@main", "granian-wsgi-main"),
        ("granian @ /x/granian", "granian @ file:///x/granian", "granian-wsgi-source"),
        ("/x/my branch", "/x/my branch", "granian-wsgi-my-branch"),
    ],
)
def test_variant_has_short_name_in_label(text, kept, label):
    variant = parse(text)
    assert (variant.text, variant.name_for("granian-wsgi")) == (kept, label)
    assert parse(kept) == variant


def test_two_versions_of_package_are_refused():
    with pytest.raises(UserError, match="two variants change granian"):
        parse_environment(["granian==2.7.9", "granian==2.8"])


@pytest.mark.parametrize(
    ("variant", "used_by", "unused_by"),
    [
        ("granian==2.7.9", ("granian-wsgi", "granian-asgi"), ("gunicorn", "uvicorn", "ws")),
        ("uvicorn==0.50", ("uvicorn", "gunicorn-uvicorn"), ("gunicorn-asgi", "daphne")),
        ("pyuwsgi==2.0.28", ("uwsgi",), ("gunicorn",)),
        ("asgiref==3.9", ("gunicorn", "daphne-redis", "django-bolt"), ("ws", "action-cable", "2016-gunicorn")),
        ("python=3.13", ("gunicorn", "uvicorn"), ("daphne-redis", "2016-gunicorn")),
    ],
)
def test_variant_changes_only_affected_setups(variant, used_by, unused_by):
    unfit = {setup.name: setup.unfit(parse(variant)) for setup in setups.find([*used_by, *unused_by])}
    assert {name for name, why in unfit.items() if why is None} == {*used_by}


def test_setup_without_changes_is_omitted(command, study):
    code, printed, _ = command("run", study("uvicorn", "granian==2.7.9"), "--dry-run")
    assert code == 0
    assert "left out other: it doesn't use granian" in " ".join(printed.split())


def test_missing_python_omits_the_setup(command, study):
    code, printed, _ = command("run", study("uvicorn", "python=3.99"), "--dry-run")
    assert code == 0
    assert "left out other: python=3.99: python3.99 was not found. Install it" in " ".join(printed.split())


def test_sample_uses_environment_of_variant(monkeypatch, tmp_path):
    """The installation is simulated, because it takes seconds."""
    made = []

    def make(python, found, extra, variants):
        made.append((list(found), [one.text for one in variants]))
        return overlay.Overlay(tmp_path)

    monkeypatch.setattr(overlay, "make", make)
    monkeypatch.setattr(overlay, "versions", lambda python: {"granian": "2.7.9"})
    monkeypatch.setattr(overlay, "version", lambda python: "3.11.2")
    chosen = setups.find(["granian-asgi"], [parse("granian==2.7.9"), parse("hopless")])
    found = project.chosen(None, chosen)
    plain, other, hopless = (found.application.environment_for(setup) for setup in chosen)
    assert made == [([], ["granian==2.7.9"])]
    assert found.environments == {("granian==2.7.9",): {"python": "3.11.2", "packages": {"granian": "2.7.9"}}}
    assert other["PATH"].startswith(str(tmp_path))
    assert not plain["PATH"].startswith(str(tmp_path))
    assert hopless == {**plain, "HOPLESS": "1"}  # every environment of the sample contains hopless


def test_fully_changed_study_keeps_its_baseline():
    chosen = StudyOptions("first-look", setups="uvicorn", variants=("hopless", "Django==6.1.3")).study()
    assert [entry.label for entry in chosen.entries] == ["uvicorn", "uvicorn-hopless", "uvicorn-django-6.1.3"]
    assert chosen.baseline == "uvicorn"


@pytest.mark.exhaustive
@pytest.mark.servers
def test_run_compares_two_releases(command, study, tmp_path):
    command("run", study("gunicorn", "gunicorn==23.0.0"), "--output", tmp_path / "run", "--ignore-busy")
    record = json.loads((tmp_path / "run/run.json").read_text())
    [environment] = record["environments"]
    assert (environment["variant"], environment["packages"]["gunicorn"]) == (["gunicorn==23.0.0"], "23.0.0")
    different = dict(environment["packages"].items() - record["versions"]["packages"].items())
    assert different == {"gunicorn": "23.0.0"}
    trials = [json.loads(file.read_text()) for file in (tmp_path / "run/trials").glob("*.json")]
    assert all(trial["result"]["ok"] for trial in trials)
    assert "With gunicorn==23.0.0: gunicorn 23.0.0 (not " in (tmp_path / "run/report.html").read_text()


@pytest.mark.exhaustive
@pytest.mark.servers
@pytest.mark.parametrize("name", ["django-bolt", "caddysnake-wsgi", "caddysnake-asgi"])
def test_newer_python_gives_same_answers(command, name):
    need = name.removesuffix("-wsgi").removesuffix("-asgi")
    newer = next((version for version in NEWER if not interpreters.missing(version)), None)
    if missing_needs([need]) and newer is None:
        pytest.skip("it needs Python 3.12 or newer: uv python install 3.13")
    code, printed, _ = command("check", name, *(("--variant", f"python={newer}") if missing_needs([need]) else ()))
    assert (code, "0 differences" in printed) == (0, True)
