"""To add a way to reach a machine is to add a file to hosts."""

import pytest

from loadtests import hosts
from loadtests.errors import UserError
from loadtests.hosts.local import Local
from loadtests.measure.bench import make_bench
from loadtests.plan import study as studies
from loadtests.setups.application import sample

MOON = """
from loadtests.hosts.local import Local

class Moon(Local):
    def __init__(self, crater):
        self.name = f"moon, {crater}"

    def address(self, bind):
        return "127.0.0.2"

def at(address):
    return Moon(address)
"""
STUDY = {"setups": ["gunicorn"], "tests": {"latency": {"rate": 1, "duration": "1s"}}}


@pytest.fixture
def moon(tmp_path, monkeypatch):
    folder = tmp_path / "hosts"
    folder.mkdir()
    (folder / "moon.py").write_text(MOON)
    monkeypatch.setattr(hosts, "__path__", [*hosts.__path__, str(folder)])


def test_a_host_is_found_by_its_scheme(moon):
    assert hosts.at("moon://tycho").name == "moon, tycho"


def test_a_study_can_be_measured_there(moon, monkeypatch):
    monkeypatch.setenv("PORT", "8123")
    made = make_bench(studies.parse(STUDY, "s", "s.toml"), sample(), "moon://tycho")
    assert made.host.name == "moon, tycho"
    assert made.url == "http://127.0.0.2:8123"


def test_this_machine_is_where_nothing_else_is_said():
    assert isinstance(make_bench(studies.parse(STUDY, "s", "s.toml"), sample()).host, Local)


def test_an_unknown_scheme_is_named_with_those_there_are():
    with pytest.raises(UserError, match=r"^unknown kind of host 'carrier'; there are: .*local"):
        hosts.at("carrier://somewhere")
