"""Test the description of an application that refuses requests under load."""

import dataclasses

import pytest

from loadtests.records.result import NOTHING, RequestResult
from loadtests.trials.refused import refusal
from loadtests.workload import Load, SignIn

LOAD = Load.of_url("http://127.0.0.1:8000/", rate=30.0, duration_s=2.0)
LIMIT = "Switch off the application's rate limit for the measurement"
MAYBE = "If the application limits requests, switch its limit off"


@pytest.mark.parametrize(
    ("example", "ok", "says"),
    [
        ("status 429 instead of 200", 20, f"the application answered 429 instead of 200 to 40 of 60 requests. {LIMIT}"),
        ("status 403 instead of 200", 20, f"the application answered 403 instead of 200 to 40 of 60 requests. {MAYBE}"),
        ("status 503 instead of 200", 0, f"the application answered 503 instead of 200 to 40 of 60 requests. {MAYBE}"),
        ("status 503 instead of 200", 20, ""),
        ("GET /a/: 429 instead of 200", 20, f"429 instead of 200 to 40 of 60 requests, first to GET /a/. {LIMIT}"),
    ],
)
def test_refused_requests_are_counted(a_result, example, ok, says):
    result = dataclasses.replace(
        a_result(LOAD), planned=60, ok=ok, errors={"status": 40}, examples={"status": example}, timeline=()
    )
    assert refusal(result).endswith(says)
    assert bool(refusal(result)) == bool(says)


@pytest.mark.parametrize(
    ("ok", "says"),
    [
        (
            0,
            "every sign-in failed: POST /login/ answered 200 instead of 302. If the application limits logins, switch "
            "its limit off",
        ),
        (1, ""),
    ],
)
def test_failed_sign_ins_are_reported(a_result, ok, says):
    row = RequestResult(
        "POST sign-in",
        planned=9,
        sent=9,
        completed=9,
        ok=ok,
        unfinished=0,
        errors={"status": 9 - ok},
        response_time_ms=NOTHING,
    )
    result = dataclasses.replace(
        a_result(LOAD), requests=(row,), errors={"status": 9}, examples={"status": "POST sign-in: 200 instead of 302"}
    )
    assert refusal(result, SignIn("/login/", "ada")) == says
