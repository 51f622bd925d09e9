"""Test that a new kind of host needs only a file in the package hosts."""

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


def test_study_runs_on_new_host(tmp_path, monkeypatch):
    (tmp_path / "moon.py").write_text(MOON)
    monkeypatch.setattr(hosts, "__path__", [*hosts.__path__, str(tmp_path)])
    monkeypatch.setenv("PORT", "8123")
    study = studies.parse(STUDY, "s", "s.toml")
    made = make_bench(study, sample(), "moon://tycho")
    assert (made.host.name, made.url) == ("moon, tycho", "http://127.0.0.2:8123")
    assert type(make_bench(study, sample()).host) is Local


def test_unknown_scheme_lists_known_schemes():
    with pytest.raises(UserError, match=r"^unknown kind of host 'carrier'. Choices are: .*local"):
        hosts.at("carrier://somewhere")
