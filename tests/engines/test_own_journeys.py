"""Journeys that somebody else wrote, mistakes and all."""

import pytest

from loadtests.engines import EngineError, get
from loadtests.workload import Load, Users

pytestmark = pytest.mark.servers

locust = get("locust")


def load(survey, file, users=4):
    who = Users(str(file), "/questionnaire/", (0.01, 0.03), users)
    return Load.of_url(f"{survey.url}/", users=who, connections=users, duration_s=0.5, timeout_s=5.0)


OWN = """
from loadtests.journeys.base import Journey
from loadtests.journeys.steps import BrokenOff

class Mine(Journey):
    def walk(self):
        {walk}
"""
LAUNCH = "'/questionnaire/launch/', 'launch', status=302"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (OWN.format(walk="raise KeyError('so it goes')"), r"broke off: KeyError: 'so it goes' \(exit status 1\)$"),
        (
            OWN.format(walk=f"self.get({LAUNCH}, check=lambda page: BrokenOff('sold-out', ''))"),
            r"broke off: ValueError: 'sold-out' is no kind of failure; known are status, ",
        ),
        (
            OWN.format(walk=f"self.get({LAUNCH}); raise BrokenOff('wrong-body', 'sold out')"),
            r"broke off: TypeError: a failure is to be returned from a check, not raised: wrong-body: sold out ",
        ),
        ("x = 1", r"has 0 journeys; one subclass of Journey is needed \(exit status 1\)$"),
        ("import", r"broke off: SyntaxError: .* \(exit status 1\)$"),
    ],
)
def test_a_mistake_in_a_journey_is_one_clear_line(survey, tmp_path, text, says):
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(EngineError, match=says):
        locust.run(load(survey(), file))


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
    ids=["prints and imports a neighbour", "goes on after every error, and ends with the load"],
)
def test_a_journey_may_do_what_python_can(survey, tmp_path, imports, walk):
    (tmp_path / "neighbour.py").write_text("WHERE = '/questionnaire/launch/'")
    file = tmp_path / "mine.py"
    file.write_text(imports + OWN.format(walk=walk))
    server = survey()
    result = locust.run(load(server, file))
    assert result.ok == server.counts["GET launch"] > 0


def test_a_user_keeps_its_connection_beyond_the_first_thousand_files(survey, tmp_path):
    file = tmp_path / "mine.py"
    others = "import os; KEPT = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]"
    file.write_text(others + OWN.format(walk=f"self.get({LAUNCH})"))
    server = survey()
    result = locust.run(load(server, file))
    assert result.ok > 8
    assert server.counts["connections"] == 4


def test_an_injector_that_can_open_no_more_connections_is_no_failure_of_the_server(survey, tmp_path):
    file = tmp_path / "mine.py"
    few = """
import os, resource
LOWEST = os.dup(0)
resource.setrlimit(resource.RLIMIT_NOFILE, (LOWEST + 16, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
"""
    file.write_text(few + OWN.format(walk=f"self.get({LAUNCH})"))
    with pytest.raises(EngineError, match=r"RuntimeError: no more connections can be opened .* Too many open files"):
        locust.run(load(survey(), file, users=40))
