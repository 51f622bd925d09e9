"""Test journeys that users write, including mistakes in them, and journeys from recordings."""

import json

import pytest

from loadtests.engines import EngineError, get
from loadtests.workload import Load, Users
from loadtests.workload.convert import converted

pytestmark = pytest.mark.servers

OWN = """
from loadtests.journeys.base import Journey
from loadtests.journeys.steps import BrokenOff

class Mine(Journey):
    def walk(self):
        {walk}
"""
LAUNCH = "'/questionnaire/launch/', 'launch', status=302"
GET = OWN.format(walk=f"self.get({LAUNCH})")


@pytest.fixture
def walked(survey, tmp_path):
    """Return a function that runs the journey in a text and returns the result and the server's counts."""

    def walked(text, users=4):
        file = tmp_path / "mine.py"
        file.write_text(text)
        server = survey()
        who = Users(str(file), "/questionnaire/", (0.01, 0.03), users)
        options = {"users": who, "connections": users, "duration_s": 0.5, "timeout_s": 5.0}
        return get("locust").run(Load.of_url(f"{server.url}/", **options)), server.counts

    return walked


# With few file descriptors, the injector can't open connections. This isn't a failure of the server.
FEW = """
import os, resource
LOWEST = os.dup(0)
resource.setrlimit(resource.RLIMIT_NOFILE, (LOWEST + 16, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (OWN.format(walk="raise KeyError('so it goes')"), r"stopped: KeyError: 'so it goes' \(exit status 1\)$"),
        pytest.param(
            OWN.format(walk=f"self.get({LAUNCH}, check=lambda page: BrokenOff('sold-out', ''))"),
            r"stopped: ValueError: 'sold-out' is not a kind of failure. Use one of status, ",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            "x = 1",
            r"contains 0 journeys. It must contain one subclass of Journey \(exit status 1\)$",
            marks=pytest.mark.exhaustive,
        ),
        (FEW + GET, r"RuntimeError: this machine can't open more connections: .* Too many open files"),
    ],
)
def test_mistake_in_journey_is_explained(walked, text, says):
    with pytest.raises(EngineError, match=says):
        walked(text, users=40)


GOES_ON = f"""
        while True:
            with contextlib.suppress(Exception):
                self.get({LAUNCH})
                self.think()
"""


@pytest.mark.parametrize(
    ("imports", "walk"),
    [
        ("from neighbour import WHERE", "print(WHERE); self.get(WHERE, 'launch', status=302)"),
        ("import contextlib", GOES_ON),
    ],
    ids=["prints, and imports a module next to it", "ignores all errors, and ends with the load"],
)
def test_journey_can_use_plain_python(walked, tmp_path, imports, walk):
    (tmp_path / "neighbour.py").write_text("WHERE = '/questionnaire/launch/'")
    result, counts = walked(imports + OWN.format(walk=walk))
    assert result.ok == counts["GET launch"] > 0


@pytest.mark.exhaustive
def test_many_open_files_are_supported(walked):
    others = "import os; KEPT = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]"
    result, counts = walked(others + GET)
    assert result.ok > 8
    assert counts["connections"] == 4


# A recording in the format of ONS, with some pages of the sample questionnaire.
POST, SUMMARY = {"method": "POST"}, "/questionnaire/summary/"
RECORDED = [
    {"method": "GET", "url": "/questionnaire/launch/", "redirect_route": "/questionnaire/session?token={token}"},
    {"method": "GET", "url": "/questionnaire/session?token={token}", "redirect_route": "/questionnaire/introduction/"},
    {"method": "GET", "url": "/questionnaire/name/"},
    POST | {"url": "/questionnaire/name/", "data": {"name": "Ada"}, "redirect_route": "/questionnaire/household/"},
    {"method": "GET", "url": "/questionnaire/travel/"},
    POST | {"url": "/questionnaire/travel/", "data": {"travel": ["foot", "bus"]}, "redirect_route": SUMMARY},
    {"method": "GET", "url": SUMMARY},
]


def test_recorded_journey_is_completed(walked, tmp_path):
    file = tmp_path / "survey.json"
    file.write_text(json.dumps({"schema_name": "questionnaire", "schema_url": "", "requests": RECORDED}))
    result, counts = walked(converted("journey", file).text)
    assert (result.errors, result.examples) == ({}, {})
    assert 0 < result.journeys.completed <= counts["GET summary"]
    assert result.ok == counts["all"]
