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
    test = conversing(kind, consumer="sync", size=100, **({"arrivals": "even"} if kind in SEARCHES else {}))
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
}
NOT_HERE = ": is not a known key"
# The kind of a test, its changes to RIGHT, and the expected error.
WRONG = [
    ("latency", {"warmup": -1}, ".warmup: must be a duration such as 10s or 500ms, from 0 to 604,800 seconds, not -1"),
    ("latency", {"connections": 10}, f".connections{NOT_HERE}"),
    ("latency", {"percentiles": ["p90"]}, ".percentiles[1]: must be one of 'p50', 'p95', 'p99', not 'p90'"),
    ("latency", {"status": 101}, ".status: must be a whole number from 200 to "),
    ("recovery", {"rate": "auto"}, ".rate: must be a number above 0, not 'auto'"),
    ("throughput", {"rate": 10}, f".rate{NOT_HERE}"),
    ("capacity", {"objective": "fast"}, ".objective: 'fast' is not a limit"),
    ("capacity", {"objective": "errors<1%"}, ".objective: 'errors<1%' must limit the response time"),
    ("capacity", {"duration": "10s"}, f".duration{NOT_HERE}"),
    ("capacity", {"arrivals": "recorded"}, ".arrivals: must be 'even' or 'random', not 'recorded'"),
    ("echo", {"size": 8}, ".size: must be a whole number from 32 to 1,000,000, not 8"),
    ("broadcast", {"connections": 3}, f".connections{NOT_HERE}"),
    ("broadcast", {"rooms": 51}, ".rooms: is 51, but there are only 50 receivers. Each room needs a receiver"),
    ("connect", {"connections": 3}, f".connections{NOT_HERE}"),
    ("connect-capacity", {"objective": "p99<50ms, missing<1%"}, ".objective: 'missing<1%'"),
    ("echo-capacity", {"objective": "lag p99<50ms"}, ".objective: 'lag p99<50ms'"),
    ("echo-capacity", {"start_rate": 0}, ".start_rate: must be a number above 0, not 0"),
    ("broadcast-capacity", {"objective": "missing<1%"}, ".objective: 'missing<1%'"),
    ("broadcast-capacity", {"receivers": 10_000, "rooms": 1}, ".objective: its percentile needs 10,000,000 deliveries"),
    ("deployment", {"way": "reboot"}, ".way: must be one of 'kill', 'max-requests', 'reload', 'restart', not 'reboot'"),
    ("deployment", {"clients": "closing"}, f".clients{NOT_HERE}"),
    ("stream", {"path": "events"}, ".path: "),
    ("stream", {"events": 300}, ".events: a stream can last at most 10 s, not 15"),
    ("journey", {"users": ...}, ".users: set either users"),
    ("journey", {"rate": 1}, ".users: set either users"),
    ("journey", {"users": 0}, ".users: must be a whole number from 1 to 20,000, not 0"),
    ("journey", {"think": ["2s", "1s"]}, ".think: is from 2 to 1 s. Write the shorter time first"),
    ("journey", {"think": ["2s"]}, ".think: must be one duration or two"),
    ("journey", {"think": "soon"}, ".think: 'soon' is not a duration"),
    ("journey", {"path": "questionnaire"}, ".path: must be the path of the application"),
    ("journey", {"journey": "questionaire"}, ".journey: unknown journey 'questionaire'. Did you mean questionn"),
    ("journey", {"journey": "none.py"}, ".journey: none.py cannot be read: No such file"),
    ("journey-capacity", {"objective": "failures<1%"}, ".objective: 'failures<1%' must limit the response time"),
    ("journey-capacity", {"start_rate": 0.5}, ".start_rate: must be from 1 to max_rate"),
    ("journey-capacity", {"start_rate": 50, "max_rate": 20}, ".start_rate: must be from 1 to max_rate (20), not 50"),
    ("journey-capacity", {"max_rate": 30000}, ".max_rate: must be at most 20,000, not 30000"),
    ("journey-capacity", {"users": 10}, f".users{NOT_HERE}"),
]


@pytest.mark.parametrize(("kind", "wrong", "says"), WRONG)
def test_invalid_test_is_refused(kind, wrong, says):
    keys = {key: value for key, value in (RIGHT[kind] | wrong).items() if value is not ...}
    with pytest.raises(UserError) as raised:
        a_test(kind, **keys)
    assert str(raised.value).startswith(f"s.toml: tests.{kind}{says}")
    assert "\n" not in str(raised.value)
