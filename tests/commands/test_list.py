"""``list``: what there is, and what of it cannot run here."""

import json
import re

import pytest

from loadtests import files, setups
from loadtests.engines import node
from loadtests.plan import study as studies
from loadtests.records.run import folder
from loadtests.setups.needs import NEEDS


@pytest.fixture
def without(monkeypatch):
    """A function: takes a name of loadtests.setups.needs from this machine."""

    def take(name):
        needs = {**NEEDS, name: (lambda bin: False, "somewhere else")}
        monkeypatch.setattr("loadtests.setups.needs.NEEDS", needs)

    return take


def rows(command, kind):
    return {row["name"]: row for row in json.loads(command("list", "--json")[1])[kind]}


def test_setups_say_what_they_lack_here(command, without):
    without("daphne")
    found = rows(command, "setups")
    assert found["daphne-ipc"]["not_here"] == "lacks daphne"
    assert found["waitress"]["not_here"] == ""
    assert "lacks daphne" in command("list", "setups")[1]
    assert re.search(r"setups, \d+ with something missing here; all of them: .* list setups", command("list")[1])


def test_studies_say_which_setups_they_have_to_do_without(command, without):
    without("daphne")
    studies = rows(command, "studies")
    assert studies["first-look"]["not_here"] == "without daphne, daphne-ipc, daphne-redis"
    assert studies["sweep"]["not_here"] == ""


def test_a_study_without_its_baseline_cannot_run(command, without):
    without("gunicorn")
    assert rows(command, "studies")["first-look"]["not_here"] == "its baseline gunicorn lacks gunicorn"


def test_engines_without_node_cannot_run(command, monkeypatch):
    node.require.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    assert "there is no node on PATH" in rows(command, "engines")["openloop"]["not_here"]
    assert rows(command, "studies")["first-look"]["not_here"] == "its engine openloop cannot run"
    node.require.cache_clear()


def test_names_stay_in_one_piece_on_a_terminal_of_80_columns(cli):
    cli.env |= {"COLUMNS": "80", "FORCE_COLOR": "1"}
    code, printed, _ = cli.run("list")
    assert code == 0
    assert len(printed.splitlines()) <= 20
    printed = "".join(cli.run("list", kind)[1] for kind in ("setups", "studies", "runs"))
    for name in [*setups.known(), *studies.names(), *(path.name for path in folder.runs())]:
        assert re.search(rf"^(\x1b\[\S*m)?{re.escape(name)}\s", printed, re.MULTILINE), name


def test_results_that_cannot_be_read_are_not_an_empty_list(command, monkeypatch, tmp_path):
    monkeypatch.setattr(files, "RESULTS", tmp_path / "missing")
    assert "none yet" in command("list", "runs")[1]
    monkeypatch.setattr(files, "RESULTS", tmp_path / "file")
    files.RESULTS.touch()
    code, _, errors = command("list", "runs")
    assert (code, errors.strip()) == (1, f"error: {files.RESULTS} cannot be read: Not a directory")
