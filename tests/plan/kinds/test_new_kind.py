"""Test that a new kind of test needs only a file in the package kinds.

The tests write this file, and no other file mentions the kind.
"""

import dataclasses
import sys

import pytest

from loadtests.plan import kinds
from loadtests.plan import study as studies
from tests.fixtures.pages import page_of, section, summary

NAME = "ping"
SOURCE = """
import dataclasses

from loadtests.plan.kinds.base import Test
from loadtests.plan.kinds.pace import Hold
from loadtests.plan.metrics import Metric
from loadtests.workload import Load


def read(trial):
    return float(trial.result.waited) if trial.result else None


PONG = Metric(
    "pong_ms", "pong", "ms", read, called="pong", short="pong", better="livelier", worse="lamer",
    question="a pong", first="answers first",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pings(Test):
    tag = "ping"
    order = 9
    paces = (Hold,)
    metrics = verdicts = (PONG,)
    heading = "Ping and pong"
    about = "The time of a pong."
    caption = "Pong: {what}"
    table = {PONG: "pong, ms"}
    setup_features = frozenset()
    subject = "a ping"

    pings: int = 3
    colours: tuple[str, ...]

    @property
    def description(self):
        return f"{self.pings} pings in {' and '.join(self.colours)}"

    def loop_condition(self, clients):
        return "with pings"

    def load_of(self, fields):
        return Load(**fields)
"""
TABLE = {"kind": NAME, "pings": 5, "colours": ["red", "blue"], "duration": "5s"}


@pytest.fixture
def test(tmp_path, monkeypatch):
    """Write the file of the new kind to a folder for kinds, and return a test of this kind."""
    folder = tmp_path / "kinds"
    folder.mkdir()
    (folder / f"{NAME}.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(folder)])
    [test] = studies.parse({"setups": ["gunicorn"], "tests": {"dial": TABLE}}, "s", "s.toml").tests
    yield test
    sys.modules.pop(f"{kinds.__name__}.{NAME}", None)


def pongs(label, test, block, result):
    """Change the results: uvicorn needs half of gunicorn's time, and daphne about the same time as gunicorn."""
    typical = {"gunicorn": 4000, "uvicorn": 2000, "daphne": 4000 + block % 3}[label]
    return dataclasses.replace(result, waited=typical + block * block % 5)


@pytest.fixture
def run(build_run, test):
    """Return a run with a test of the new kind, as read from its run folder."""
    return build_run(labels=("gunicorn", "uvicorn", "daphne"), tests=(test,), blocks=6, change=pongs)


def test_report_uses_terms_of_new_kind(run):
    page = page_of(run)
    [finding] = page.findings
    assert finding.question == "A pong with pings"
    assert finding.answer.startswith("uvicorn answers first, 2,002 ms; ")
    assert finding.certain
    own = section(page, "ping")
    assert (own.heading, own.paragraphs) == ("Ping and pong", ("The time of a pong.",))
    [table] = own.tables
    assert table.caption == "Pong: 5 pings in red and blue"
    assert [row[1].text for row in table.rows] == ["2,002", "4,002", "4,003"]
    assert float(summary(run)[1]["pong_ms"]) == pytest.approx(2001.83)
