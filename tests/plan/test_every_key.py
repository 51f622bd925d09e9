"""Test studies with a value for every key, and errors for a single wrong value."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan import study as studies
from tests.fixtures.conversations import SEARCHES, TABLES, conversing
from tests.fixtures.schemas import as_json
from tests.fixtures.studies import FULL, SMALL, a_test


@pytest.mark.parametrize("table", [SMALL, FULL])
def test_record_restores_the_study(table):
    study = studies.parse(table, "name", "a.toml")
    assert studies.from_dict(as_json(study.to_dict())) == study


@pytest.mark.parametrize("kind", [*TABLES, *SEARCHES])
def test_record_restores_the_conversation(kind):
    test = conversing(kind, size=100, **({"arrivals": "even"} if kind in SEARCHES else {}))
    assert kinds.from_record(as_json(test.record())) == test


RIGHT = TABLES | SEARCHES
RIGHT |= {
    "latency": {"rate": 300, "duration": "1s"},
    "throughput": {"duration": "1s"},
    "capacity": {},
    "recovery": {"rate": 40, "duration": "95s"},
    "deployment": {"way": "reload", "rate": 40, "duration": "9s"},
    "stream": {"rate": 125, "duration": "8s"},
    "journey": {"duration": "60s", "users": 1},
    "journey-capacity": {},
    "stream-capacity": {},
}
# The kind of a test, its changes to RIGHT, and the expected error.
WRONG = [
    ("latency", {"warmup": -1}, ".warmup: must be a duration such as 10s or 500ms, from 0 to 604,800 seconds, not -1"),
    ("latency", {"connections": 10}, ".connections: is not a known key"),
    ("latency", {"percentiles": ["p90"]}, ".percentiles[1]: must be one of 'p50', 'p95', 'p99', not 'p90'"),
    ("capacity", {"objective": "fast"}, ".objective: 'fast' is not a valid limit"),
    ("capacity", {"objective": "errors<1%"}, ".objective: 'errors<1%' must limit a percentile"),
    ("broadcast", {"rooms": 51}, ".rooms: is 51, but there are only 50 receivers. Each room needs a receiver"),
    ("echo-capacity", {"start_rate": 0}, ".start_rate: must be a number above 0, not 0"),
    ("echo-capacity", {"start_rate": 0.5}, ".start_rate: must be at least 1, not 0.5"),
    ("journey-capacity", {"max_rate": 30_000}, ".max_rate: must be at most 20,000, not 30000"),
    ("stream-capacity", {"start_rate": 70_000}, ".start_rate: must be at most 60,000, not 70000"),
    ("stream", {"percentiles": ["p50", "p99"]}, ".percentiles: tests of the kind stream have no verdicts for p50"),
    ("deployment", {"way": "reboot"}, ".way: must be one of 'kill', 'max-requests', 'reload', 'restart', not 'reboot'"),
    ("stream", {"events": 300}, ".events: a stream can last at most 10 s, not 15"),
    ("journey", {"users": ...}, ".rate: is missing. It must be a number above 0"),
    ("journey", {"think": ["2s", "1s"]}, ".think: must be one duration or two, the shorter time first"),
    ("journey", {"path": "questionnaire"}, ".path: must be the path of the application"),
    ("journey", {"journey": "questionaire"}, ".journey: unknown journey 'questionaire'. Did you mean questionn"),
    ("journey", {"journey": "none.py"}, ".journey: none.py cannot be read: No such file"),
]


@pytest.mark.parametrize(("kind", "wrong", "says"), WRONG)
def test_invalid_test_is_refused(kind, wrong, says):
    keys = {key: value for key, value in (RIGHT[kind] | wrong).items() if value is not ...}
    with pytest.raises(UserError) as raised:
        a_test(kind, **keys)
    assert str(raised.value).startswith(f"s.toml: tests.{kind}{says}")
    assert "\n" not in str(raised.value)
