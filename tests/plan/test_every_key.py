"""Studies with something in every key are read, and refused where one value is wrong."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan import study as studies
from tests.fixtures.conversations import SEARCHES, TABLES, conversing
from tests.fixtures.schemas import as_json, changed
from tests.fixtures.studies import FULL, SMALL


@pytest.mark.parametrize("table", [SMALL, FULL])
def test_a_study_is_read_and_its_record_gives_it_back(table):
    study = studies.parse(table, "name", "a.toml")
    assert studies.from_dict(as_json(study.to_dict())) == study


@pytest.mark.parametrize("kind", [*TABLES, *SEARCHES])
def test_so_does_that_of_a_conversation(kind):
    test = conversing(kind, consumer="sync", size=100, **({"arrivals": "even"} if kind in SEARCHES else {}))
    assert kinds.from_record(as_json(test.record())) == test


WRONG_STUDIES = [
    (("setups",), ...),
    (("setups",), []),
    (("setups",), [{"label": "no setup"}]),
    (("setups",), [{"setup": "gunicorn", "workers": 2}]),
    (("tests",), {}),
    (("tests", "a b"), {"kind": "latency", "rate": 1, "duration": "1s"}),
    (("tests", "latency", "rate"), ...),
    (("tests", "latency", "rate"), 0),
    (("tests", "latency", "rate"), "300"),
    (("tests", "latency", "duration"), ...),
    (("tests", "latency", "duration"), "soon"),
    (("tests", "latency", "warmup"), -1),
    (("tests", "latency", "connections"), 10),
    (("tests", "recovery", "rate"), "auto"),
    (("tests", "recovery", "duration"), ...),
    (("quick_blocks",), 0),
    (("tests", "latency", "kind"), "speed"),
    (("tests", "latency", "engine"), 1),
    (("tests", "latency", "services"), ["redis", 1]),
    (("tests", "latency", "recipe"), 1),
    (("tests", "latency", "speed"), 2),
    (("tests", "typical", "percentiles"), ["p90"]),
    (("tests", "typical", "percentiles"), "p50"),
    (("tests", "async", "percentiles"), ["p50"]),
    (("tests", "async", "speed"), 2),
    (("tests", "async", "pace"), "recorded"),
    (("tests", "post", "method"), "BREW"),
    (("tests", "post", "headers"), {"X": 1}),
    (("tests", "post", "body_base64"), "YQ=="),
    (("tests", "post", "status"), 101),
    (("tests", "post", "requests"), [{"path": "/"}]),
    (("tests", "mix", "requests"), []),
    (("tests", "mix", "requests", 0, "weight"), 0),
    (("tests", "mix", "requests", 0, "wieght"), 1),
    (("tests", "mix", "workload"), "mine.toml"),
    (("tests", "mix", "path"), "/"),
    (("tests", "replay", "rate"), 10),
    (("tests", "replay", "duration"), "1s"),
    (("tests", "replay", "speed"), 0),
    (("tests", "replay", "requests"), ...),
    (("tests", "replay", "requests", 0, "at"), [-1]),
    (("tests", "async", "kind"), ...),
    (("tests", "async", "rate"), 10),
    (("tests", "async", "connections"), 0),
    (("tests", "capacity", "objective"), "fast"),
    (("tests", "capacity", "objective"), "errors<1%"),
    (("tests", "capacity", "duration"), "10s"),
    (("tests", "capacity", "arrivals"), "recorded"),
    (("tests", "arrivals", "kind"), ...),
    (("tests", "journey-capacity", "objective"), "failures<1%"),
    (("tests", "journey-capacity", "start_rate"), 0),
    (("tests", "journey-capacity", "duration"), "10s"),
    (("delta",), 1),
    (("aa",), "yes"),
    (("price_per_core_hour",), 0),
    (("nonsense",), 1),
]


@pytest.mark.parametrize(("path", "new"), WRONG_STUDIES)
def test_a_wrong_study_is_refused(path, new):
    with pytest.raises(UserError):
        studies.parse(changed(FULL, path, new), "name", "a.toml")
