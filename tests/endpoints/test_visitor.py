"""Test sessions and signed-in users in sync and async views, with and without middleware."""

import json

import pytest
from django.contrib.sessions.models import Session
from django.db import connections
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from endpoints import visitor
from testproject.settings.middleware import USUAL

from loadtests.serve.sample_requests import VISITOR

KEY = VISITOR[1].partition("=")[2]
FOUND = {"session": {"visits": 3}, "user": {"user": "visitor"}}


@pytest.fixture
def signed_in(wsgi, asgi, database):
    for client in (wsgi, asgi):
        client.cookies["sessionid"] = KEY


@pytest.fixture(params=[USUAL, []], ids=["usual", "none"])
def middleware(request):
    with override_settings(MIDDLEWARE=request.param):
        yield


@pytest.mark.usefixtures("middleware", "signed_in")
@pytest.mark.parametrize("what", FOUND)
def test_session_is_found_by_cookie(answers, prefix, what):
    for response, body in answers("get", f"{prefix}/{what}"):
        assert (response.status_code, json.loads(body)) == (200, FOUND[what])


@pytest.mark.usefixtures("middleware", "database")
@pytest.mark.parametrize("cookies", [{}, {"sessionid": "thatnobodyhas"}], ids=["none", "another"])
@pytest.mark.parametrize("what", FOUND)
def test_missing_cookie_means_anonymous(answers, wsgi, asgi, prefix, what, cookies):
    for client in (wsgi, asgi):
        client.cookies.load(cookies)
    for response, _ in answers("get", f"{prefix}/{what}"):
        assert response.status_code == 401


@pytest.mark.parametrize(("what", "queries"), [("session", 1), ("user", 2)])
def test_user_needs_a_second_query(wsgi, signed_in, what, queries):
    with CaptureQueriesContext(connections["default"]) as asked:
        wsgi.get(f"/{what}")
    assert len([one for one in asked.captured_queries if one["sql"].startswith("SELECT")]) == queries


def test_invalid_session_is_replaced(wsgi, signed_in):
    with override_settings(SECRET_KEY="another"):
        visitor.sign_in()
    assert wsgi.get("/user").status_code == 401
    visitor.sign_in()
    assert wsgi.get("/user").status_code == 200
    before = Session.objects.get(session_key=visitor.COOKIE).session_data  # includes the time of the signature
    visitor.sign_in()
    assert Session.objects.get(session_key=visitor.COOKIE).session_data == before
