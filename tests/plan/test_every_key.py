"""Studies with something in every key are read, and refused where one value is wrong."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan import study as studies
from tests.fixtures.conversations import SEARCHES, TABLES, conversing
from tests.fixtures.schemas import as_json, changed
from tests.fixtures.studies import FULL, SMALL, a_test


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
    (("tests", "latency", "duration"), ...),
    (("tests", "latency", "warmup"), -1),
    (("tests", "latency", "connections"), 10),
    (("tests", "recovery", "rate"), "auto"),
    (("tests", "recovery", "duration"), ...),
    (("quick_blocks",), 0),
    (("tests", "latency", "kind"), "speed"),
    (("tests", "latency", "engine"), 1),
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
]


RIGHT = TABLES | SEARCHES
RIGHT |= {
    "deployment": {"way": "reload", "rate": 40, "duration": "9s"},
    "stream": {"rate": 125, "duration": "8s"},
    "journey": {"duration": "60s", "users": 1},
    "journey-capacity": {},
}
NOT_HERE = ": is not a key here"
# A kind of test, what is not as in RIGHT, and what is said of it.
WRONG_TESTS = [
    ("echo", {"size": 8}, ".size: is 8"),
    ("echo", {"consumer": "both"}, ".consumer: is 'both'"),
    ("echo", {"connections": 0}, ".connections: is 0"),
    ("echo", {"path": "/"}, f".path{NOT_HERE}"),
    ("idle", {"rate": 1}, f".rate{NOT_HERE}"),
    ("echo-throughput", {"rate": 1}, f".rate{NOT_HERE}"),
    ("rejoin", {"jitter": 0}, ".jitter: is 0"),
    ("rejoin", {"rate": 0}, ".rate: is 0"),
    ("rejoin", {"receivers": 3}, f".receivers{NOT_HERE}"),
    ("broadcast", {"connections": 3}, f".connections{NOT_HERE}"),
    ("broadcast", {"rate": 0}, ".rate: is 0"),
    ("connect", {"connections": 3}, f".connections{NOT_HERE}"),
    ("connect", {"compression": "yes"}, ".compression: is 'yes'"),
    ("connect-capacity", {"connections": 3}, f".connections{NOT_HERE}"),
    ("connect-capacity", {"objective": "p99<50ms, missing<1%"}, ".objective: 'missing<1%'"),
    ("echo-capacity", {"objective": "lag p99<50ms"}, ".objective: 'lag p99<50ms'"),
    ("echo-capacity", {"rate": 10}, f".rate{NOT_HERE}"),
    ("echo-capacity", {"start_rate": 0}, ".start_rate: is 0"),
    ("broadcast-capacity", {"objective": "p99<50ms"}, ".objective: 'p99<50ms'"),
    ("broadcast-capacity", {"objective": "missing<1%"}, ".objective: 'missing<1%'"),
    ("broadcast-capacity", {"duration": "1s"}, f".duration{NOT_HERE}"),
    ("deployment", {"way": "reboot"}, ".way: is 'reboot'; one of 'kill', 'max-requests', "),
    ("deployment", {"way": ...}, ".way: is missing"),
    ("deployment", {"rate": ...}, ".rate: is missing"),
    ("deployment", {"max_requests": 0}, ".max_requests: "),
    ("stream", {"streams": 0}, ".streams: "),
    ("stream", {"path": "events"}, ".path: "),
    ("stream", {"events": 300}, ".events: a stream may last 10 s at most, not 15"),
    ("stream", {"rate": ...}, ".rate: is missing"),
    ("journey", {"users": ...}, ".users: and rate: one of them is needed"),
    ("journey", {"rate": 1}, ".users: and rate: one of them is needed"),
    ("journey", {"users": 0}, ".users: is 0; a whole number from 1 to 20,000 is needed"),
    ("journey", {"think": ["2s", "1s"]}, ".think: is from 2 to 1 s; the shorter one is first"),
    ("journey", {"think": ["2s"]}, ".think: holds 1; a duration is needed, or two of them"),
    ("journey", {"think": ["1s", "2s", "3s"]}, ".think: holds 3; a duration is needed, or two of them"),
    ("journey", {"think": "soon"}, ".think: 'soon' is not a duration"),
    ("journey", {"path": "questionnaire"}, ".path: is 'questionnaire'; where the application begins"),
    ("journey", {"journey": "questionaire"}, ".journey: unknown journey 'questionaire'; did you mean questionn"),
    ("journey", {"journey": "none.py"}, ".journey: none.py cannot be read: No such file"),
    ("journey", {"injectors": 65}, ".injectors: is 65; a whole number from 1 to 64"),
    ("journey", {"connections": 1}, f".connections{NOT_HERE}"),
    ("journey-capacity", {"model": "people"}, ".model: is 'people'; 'arrivals' or 'users' is needed"),
    ("journey-capacity", {"objective": "quick"}, ".objective: 'quick' is not a limit"),
    ("journey-capacity", {"start_rate": 0.5}, ".start_rate: is 0.5; from 1 to max_rate"),
    ("journey-capacity", {"start_rate": 50, "max_rate": 20}, ".start_rate: is 50; from 1 to max_rate (20)"),
    ("journey-capacity", {"max_rate": 30000}, ".max_rate: is 30000; 20,000 is the most"),
    ("journey-capacity", {"users": 10}, f".users{NOT_HERE}"),
]


@pytest.mark.parametrize(("kind", "wrong", "says"), WRONG_TESTS)
def test_a_wrong_test_is_reported_in_a_line(kind, wrong, says):
    keys = {key: value for key, value in (RIGHT[kind] | wrong).items() if value is not ...}
    with pytest.raises(UserError) as raised:
        a_test(kind, **keys)
    assert str(raised.value).startswith(f"s.toml: tests.{kind}{says}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("path", "new"), WRONG_STUDIES)
def test_a_wrong_study_is_refused(path, new):
    with pytest.raises(UserError):
        studies.parse(changed(FULL, path, new), "name", "a.toml")
