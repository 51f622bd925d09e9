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


def test_all_there_is_is_listed_and_a_kind_as_a_table(command):
    listing = {kind: rows(command, kind).keys() for kind in ("setups", "studies", "engines")}
    assert {"gunicorn", "daphne-redis", "daphne-ipc", "daphne", "uvicorn"} <= listing["setups"]
    assert {"first-look", "2016"} <= listing["studies"]
    assert list(listing["engines"]) == ["openloop", "loadtest", "locust"]
    assert command("list", "engines")[1].startswith("engines\nname")


def test_setups_say_what_they_lack_here_and_studies_which_they_do_without(command, without):
    without("daphne")
    found, studies = rows(command, "setups"), rows(command, "studies")
    assert (found["daphne-ipc"]["not_here"], found["waitress"]["not_here"]) == ("lacks daphne", "")
    assert "lacks daphne" in command("list", "setups")[1]
    assert re.search(r"setups, \d+ with something missing here; all of them: .* list setups", command("list")[1])
    assert studies["first-look"]["not_here"] == "without daphne, daphne-ipc, daphne-redis"
    assert studies["sweep"]["not_here"] == ""
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
