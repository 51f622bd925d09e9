"""Test that an engine can be added with a file in ``loadtests/engines``."""

import dataclasses

import pytest

from loadtests import engines
from loadtests.errors import UserError
from loadtests.measure.prepare import RunOptions, prepare
from loadtests.measure.run import RunOutcome, execute
from loadtests.plan import study as studies
from tests.fixtures.bench import SilentWatcher

TURTLE = '''
from loadtests.workload import Feature
from tests.fixtures.results import good_result

class Turtle:
    """An engine that only supports a fixed rate."""

    name = "turtle"
    label = "for tests"
    place = 9
    features = frozenset({Feature.FIXED_RATE, Feature.RANDOM_ARRIVALS})

    def require(self):
        pass

    def check(self, load):
        pass

    def run(self, load, watch):
        watch.on_start()
        watch.on_end()
        return good_result(load, engine=self.name)

ENGINE = Turtle()
'''


@pytest.fixture
def prepared(tmp_path, monkeypatch, bench_of):
    """Return a function that prepares a study with a single test, which uses the added engine ``turtle`` by default."""
    folder = tmp_path / "engines"
    folder.mkdir()
    (folder / "turtle.py").write_text(TURTLE)
    monkeypatch.setattr(engines, "__path__", [*engines.__path__, str(folder)])

    def with_real_engines(study, application):
        return dataclasses.replace(bench_of(study, application), engine=engines.get)

    def make(**test):
        study = studies.parse({"setups": ["gunicorn"], "tests": {"one": {"engine": "turtle", **test}}}, "s", "s.toml")
        return prepare(study, RunOptions(tmp_path / "run", 1), with_real_engines)

    return make


def test_file_adds_an_engine(prepared):
    assert list(engines.known())[-1] == "turtle"
    watcher = SilentWatcher()
    assert execute(prepared(kind="latency", rate=100, duration="1s"), watcher) is RunOutcome.VALID
    assert {trial.result.engine for trial in watcher.trials} == {"turtle"}


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ({"kind": "capacity", "engine": "hare"}, "unknown engine 'hare'. Choices are: .*openloop.*turtle$"),
        ({"kind": "capacity"}, "the engine turtle cannot stop a probe early. Use openloop$"),
        ({"kind": "throughput", "duration": "1s"}, "the engine turtle cannot send in a closed loop. Use "),
    ],
)
def test_unsupported_load_is_refused_early(prepared, test, says):
    with pytest.raises(UserError, match=f"^test one: {says}"):
        prepared(**test)
