"""To add an engine is to add a file to its folder."""

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
    """Sends at a fixed rate, and nothing else."""

    name = "turtle"
    label = "for tests"
    place = 9
    features = frozenset({Feature.FIXED_RATE, Feature.RANDOM_ARRIVALS})

    def require(self):
        pass

    def check(self, load):
        pass

    def run(self, load, on_second=None, should_stop=None, on_start=None, on_end=None):
        on_start()
        on_end()
        return good_result(load, engine=self.name)

ENGINE = Turtle()
'''


@pytest.fixture
def turtle(tmp_path, monkeypatch):
    folder = tmp_path / "engines"
    folder.mkdir()
    (folder / "turtle.py").write_text(TURTLE)
    monkeypatch.setattr(engines, "__path__", [*engines.__path__, str(folder)])
    return engines.get("turtle")


def study(**test):
    return studies.parse({"setups": ["gunicorn"], "tests": {"one": {"engine": "turtle", **test}}}, "s", "s.toml")


@pytest.fixture
def real_engines(bench_of):
    return lambda study, application: dataclasses.replace(bench_of(study, application), engine=engines.get)


def test_an_engine_is_found_by_its_file_and_makes_trials(turtle, real_engines, tmp_path):
    assert list(engines.known())[-1] == "turtle"
    watcher = SilentWatcher()
    latency = study(kind="latency", rate=100, duration="1s")
    assert execute(prepare(latency, RunOptions(tmp_path / "run", 1), real_engines), watcher) is RunOutcome.VALID
    assert {trial.result.engine for trial in watcher.trials} == {"turtle"}


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ({"kind": "throughput", "duration": "1s"}, "cannot send as fast as it is answered"),
        ({"kind": "capacity"}, "cannot stop a probe that is lost"),
    ],
)
def test_what_it_cannot_do_is_said_before_anything_is_started(turtle, real_engines, tmp_path, test, says):
    with pytest.raises(UserError, match=f"^test one: the engine turtle {says}; use openloop$"):
        prepare(study(**test), RunOptions(tmp_path / "run", 1), real_engines)


def test_without_its_file_it_is_unknown(real_engines, tmp_path):
    with pytest.raises(UserError, match=r"^test one: unknown engine 'turtle'; there are: .*openloop"):
        prepare(study(kind="latency", rate=1, duration="1s"), RunOptions(tmp_path / "run", 1), real_engines)
