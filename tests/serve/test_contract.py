"""What counts as the same answer, and how a difference is reported."""

import pytest

from loadtests.serve import contract
from loadtests.serve.http import Answer
from loadtests.serve.sample_requests import REQUESTS
from loadtests.workload import Request

OK = Answer(200, "text/plain", b"OK")


def test_the_same_answer_meets_the_contract():
    assert contract.meets(OK, contract.expectation(OK, own=False))


@pytest.mark.parametrize(
    "other",
    [
        Answer(500, "text/plain", b"OK"),
        Answer(200, "text/html", b"OK"),
        Answer(200, "text/plain", b"ok"),
        Answer(200, "text/plain", b"", varies=True),
        "no answer (timed out)",
    ],
)
def test_another_status_type_or_body_does_not(other):
    assert not contract.meets(other, contract.expectation(OK, own=False))


def test_where_a_body_varies_or_is_of_an_own_project_it_is_not_compared():
    other = Answer(200, "text/plain", b"other")
    assert contract.meets(other, contract.expectation(Answer(200, "text/plain", b"", varies=True), own=False))
    assert contract.meets(other, contract.expectation(OK, own=True))


def test_the_bodies_to_expect_under_load_are_those_that_are_compared(bench_of):
    requests = (Request("one"), Request("two"))
    same = contract.expectation(OK, own=False)
    bodies, broken = contract.verified(bench_of.server, requests, (same, contract.expectation(OK, own=True)))
    assert (bodies, broken) == ([b"OK", None], [])


def test_a_broken_contract_is_reported_with_both_answers(bench_of):
    bench_of.server.body = b"other"
    _, [sentence] = contract.verified(bench_of.server, (Request("one"),), (contract.expectation(OK, own=False),))
    assert sentence.startswith("GET /: answered 200 text/plain b'other'; the baseline answered 200 text/plain, SHA-256")


def test_a_long_body_is_shown_by_its_size_and_digest():
    shown = contract.show(Answer(200, "", bytes(4_000_000)))
    assert shown.startswith("200 without a content type 4000000 bytes, SHA-256 ")


@pytest.mark.servers
def test_wsgi_and_asgi_answer_alike(cli):
    code, printed, errors = cli.run("check", "gunicorn", "uvicorn")
    assert code == 0, printed + errors
    assert f"{len(REQUESTS)} requests to each of 2 setups: 0 differences" in printed
    cli.wait_until_nothing_runs()
