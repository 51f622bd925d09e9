"""What a test of coming back asks for, and what is read off it."""

import dataclasses
import math

import pytest

from loadtests.plan import kinds
from tests.fixtures.conversations import conversing, holding, rejoining
from tests.fixtures.results import histogram_of
from tests.fixtures.studies import load_of


def test_a_rejoin_is_reported_its_jitter_and_its_messages_and_is_quick_with_fewer_connections():
    test = conversing("rejoin", jitter="500ms", size=100)
    found = load_of(test)
    assert (found.rate, found.arrival_seed, found.duration_s, found.warmup_s) == (0, 7, 60, 0)
    said = found.conversation
    assert (said.receivers, said.rooms, said.jitter_s, said.publishes_per_s) == (1000, 1, 0.5, 20)
    assert test.description == (
        "1,000 WebSockets that come back after a restart, each within 0.5 s of an attempt, "
        "20 messages of 100 B a second"
    )
    quick = test.quick()
    assert (quick.work.connections, quick.pace.duration_s) == (100, 60)
    assert quick.planned_s < test.planned_s


def test_a_rejoin_has_times_and_no_costs(build_run):
    run = build_run(labels=("gunicorn",), tests=(conversing("rejoin"),), blocks=1)
    [trial] = run.trials()

    def read(name, **fields):
        connections = dataclasses.replace(holding(1001), rejoined=rejoining(**fields))
        histograms = {"away": histogram_of({2_000_000: fields.get("back", 1000)})}
        result = dataclasses.replace(trial.result, connections=connections, histograms=histograms)
        return kinds.metric(name).read(dataclasses.replace(trial, result=result))

    assert [metric.name for metric in conversing("rejoin").judged] == ["all_back_s", "away_p50_s"]
    assert (read("all_back_s"), read("away_p50_s"), read("away_p99_s"), read("first_back_s")) == (4, 2, 2, 1)
    assert (read("missed_per_connection"), read("unsent_messages")) == (3, 20)
    # More than one in a hundred never came back.
    lacking = {"back": 989}
    assert (read("all_back_s", **lacking), read("away_p99_s", **lacking)) == (math.inf, math.inf)
    assert read("away_p50_s", **lacking) == pytest.approx(2, rel=0.01)
    assert read("away_p99_s", lost=999, back=999) is None  # too few to know
    assert read("all_back_s", lost=0, back=0) is None  # it was not restarted in time
    reported = [metric.name for metric in kinds.every_metric() if conversing("rejoin").has_metric(metric)]
    assert not [name for name in reported if "cpu" in name or "memory" in name or name.startswith("opened")]
