"""Journeys that were made of a recording can be walked as they are."""

import itertools
import json

import pytest

from loadtests.engines import get
from loadtests.workload import Load, Users
from loadtests.workload.convert import converted, write

pytestmark = pytest.mark.servers

locust = get("locust")
BASE = "/questionnaire/"
ANSWERS = {
    "introduction": {},
    "name": {"name": "Ada"},
    "household": {"household": "2"},
    "moved": {"moved": "1990-01-02"},
    "work": {"work": "no"},
    "travel": {"travel": ["foot", "bus"]},
    "summary": {},
}


def as_the_ons_has_it():
    """The questionnaire as a requests file."""
    launched = {"method": "GET", "url": f"{BASE}launch/", "redirect_route": f"{BASE}session?token={{token}}"}
    signed_in = {"method": "GET", "url": f"{BASE}session?token={{token}}", "redirect_route": f"{BASE}introduction/"}
    steps = [launched, signed_in, {"method": "GET", "url": f"{BASE}introduction/"}]
    for page, following in itertools.pairwise([*ANSWERS, "thank-you"]):
        route = f"{BASE}{following}/"
        steps += [
            {"method": "POST", "url": f"{BASE}{page}/", "data": ANSWERS[page], "redirect_route": route},
            {"method": "GET", "url": route},
        ]
    return {"schema_name": "questionnaire", "schema_url": "", "requests": steps}


def as_a_browser_has_it():
    """The questionnaire as a HAR file."""
    entries = []
    for second, step in enumerate(as_the_ons_has_it()["requests"]):
        route = step.get("redirect_route", "").replace("{token}", "a.b:c")
        data = step.get("data", {})
        fields = [(name, one) for name, given in data.items() for one in ([given] if isinstance(given, str) else given)]
        request = {"method": step["method"], "headers": [], "url": "http://a" + step["url"].replace("{token}", "a.b:c")}
        if step["method"] == "POST":
            params = [{"name": "csrfmiddlewaretoken", "value": "x"}, *({"name": n, "value": v} for n, v in fields)]
            request["postData"] = {"mimeType": "application/x-www-form-urlencoded", "params": params}
        response = {"status": 302 if route else 200, "redirectURL": route}
        at = f"2026-11-21T10:00:{2 * second:02}Z"
        entries.append({"startedDateTime": at, "request": request, "response": response})
    return {"log": {"entries": entries}}


@pytest.mark.parametrize("recording", [as_the_ons_has_it, as_a_browser_has_it])
def test_a_recording_of_the_questionnaire_is_walked_to_its_end(survey, tmp_path, recording):
    file, journey = tmp_path / "survey.json", tmp_path / "survey.py"
    file.write_text(json.dumps(recording()))
    write(converted("journey", file), journey)
    server = survey()
    who = Users(str(journey), "/", (0.01, 0.02), 2)
    result = locust.run(Load.of_url(f"{server.url}/", users=who, connections=2, duration_s=1.5, timeout_s=5.0))
    assert (result.errors, result.examples) == ({}, {})
    assert result.journeys.completed > 0
    assert server.counts["GET thank-you"] >= result.journeys.completed
    assert result.ok == server.counts["all"]
