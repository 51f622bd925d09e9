"""Test the comparison of setups' answers, and the report of differences."""

import pytest

from loadtests.serve import contract
from loadtests.serve.http import Answer
from loadtests.serve.sample_requests import REQUESTS
from loadtests.workload import Request

OK = Answer(200, "text/plain", b"OK")
VARIES = Answer(200, "text/plain", b"", varies=True)


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


def test_expected_bodies_are_compared_bodies(bench_of):
    requests = (Request("one"), Request("two"))
    same = contract.expectation(OK, own=False)
    bodies, broken = contract.verified(bench_of.server, requests, (same, contract.expectation(OK, own=True)))
    assert (bodies, broken) == ([b"OK", None], [])


def test_broken_contract_shows_both_answers(bench_of):
    bench_of.server.body = b"other"
    _, [sentence] = contract.verified(bench_of.server, (Request("one"),), (contract.expectation(OK, own=False),))
    assert sentence.startswith("GET /: answered 200 text/plain b'other'; the baseline answered 200 text/plain, SHA-256")
    assert contract.show(Answer(200, "", bytes(4_000_000))).startswith("200 without a content type 4000000 bytes, SHA")


@pytest.mark.servers
def test_wsgi_answers_match_asgi(cli):
    code, printed, errors = cli.run("check", "gunicorn", "uvicorn")
    assert code == 0, printed + errors
    assert f"{len(REQUESTS)} requests to each of 2 setups: 0 differences" in printed
    cli.wait_until_nothing_runs()
