"""Test the comparison of setups' answers, and the report of differences."""

import dataclasses

import pytest

from loadtests.serve import contract
from loadtests.serve.http import Answer
from loadtests.serve.sample_requests import REQUESTS
from loadtests.setups.application import sample
from loadtests.workload import Request

OK = Answer(200, "text/plain", b"OK")
HTTPS = Answer(301, "", b"", headers=(("Location", "https://a/"),))
VARIES = Answer(200, "text/plain", b"", varies=True)


def application(*headers):
    return dataclasses.replace(sample(), own=True, ssl_redirect=True, headers=headers)


@pytest.mark.parametrize(
    ("baseline", "own", "given", "met"),
    [
        (OK, False, OK, True),
        (OK, False, Answer(500, "text/plain", b"OK"), False),
        (OK, False, Answer(200, "text/html", b"OK"), False),
        (OK, False, Answer(200, "text/plain", b"ok"), False),
        (OK, False, VARIES, False),
        (OK, False, "no answer (timed out)", False),
        (VARIES, False, OK, True),
        (OK, True, Answer(200, "text/plain", b"other"), True),  # bodies of a user's project may differ
    ],
)
def test_answer_must_match_the_baseline(baseline, own, given, met):
    assert contract.meets(given, contract.expectation(baseline, own)) == met


def test_own_project_has_no_expected_bodies(bench_of):
    requests = (Request("one"), Request("two"))
    same = contract.expectation(OK, own=False)
    bodies, broken = contract.verified(bench_of.server, requests, (same, contract.expectation(OK, own=True)))
    assert (bodies, broken) == ([b"OK", None], [])


def test_broken_contract_shows_both_answers(bench_of):
    bench_of.server.body = b"other"
    _, [sentence] = contract.verified(bench_of.server, (Request("one"),), (contract.expectation(OK, own=False),))
    assert sentence.startswith("GET /: answered 200 text/plain b'other', but the baseline answered 200 text/plain, SHA")
    assert contract.show(Answer(200, "", bytes(4_000_000))).startswith("200 without a content type 4000000 bytes, SHA")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (OK, ""),
        ("no answer (timed out)", ""),
        (Answer(400, "text/html", b""), "; if ALLOWED_HOSTS doesn't contain the host, set an allowed host with "),
        (Answer(302, "", b"", headers=(("Location", "/login/"),)), " (302 to /login/)"),
        (HTTPS, " (301 to https://a/: SECURE_SSL_REDIRECT is on. Send this header, even if "),
        (Answer(403, "text/html", b""), "; check the user's permissions, and whether the session has expired"),
    ],
)
def test_refused_request_gets_a_hint(given, says):
    request = Request("one", headers=(("Cookie", "sessionid=x"),))
    hint = contract.hint(request, given, application())
    assert hint.startswith(says)
    assert bool(hint) == bool(says)


@pytest.mark.servers
def test_wsgi_answers_match_asgi(command, own_database):
    code, printed, errors = command("check", "gunicorn", "uvicorn")
    assert code == 0, printed + errors
    assert f"{len(REQUESTS)} requests to each of 2 setups: 0 differences" in printed
