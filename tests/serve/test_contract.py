import pytest

from loadtests.serve import contract
from loadtests.serve.contract import REQUESTS, differences
from loadtests.serve.http import Answer

ALIKE = [Answer(200, "text/plain", b"OK") for _ in REQUESTS]


def test_setups_that_answer_alike_do_not_differ():
    assert differences("uvicorn", REQUESTS, ALIKE, list(ALIKE)) == []


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
def test_a_difference_in_status_type_or_body_is_found_and_shown(other):
    [found] = differences("uvicorn", REQUESTS, ALIKE, [other, *ALIKE[1:]])
    assert (found.setup, found.request) == ("uvicorn", REQUESTS[0])
    assert found.expected == "200 text/plain b'OK'"
    assert found.found != found.expected


def test_a_long_body_is_shown_by_its_size_and_digest():
    shown = contract.show(Answer(200, "", bytes(4_000_000)))
    assert shown.startswith("200 without a content type 4000000 bytes, SHA-256 ")


@pytest.mark.servers
def test_wsgi_and_asgi_answer_alike(cli):
    code, printed, errors = cli.run("check", "gunicorn", "uvicorn")
    assert code == 0, printed + errors
    assert f"{len(REQUESTS)} requests to each of 2 setups: 0 differences" in printed
    cli.wait_until_nothing_runs()
