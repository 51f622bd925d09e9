"""Every endpoint answers alike through WSGI and ASGI."""

import hashlib
import json

import pytest

MB_4 = bytes(range(256)) * 4096 * 4


@pytest.fixture
def ask(answers):
    """A function: status, content type and body of a request through WSGI; fails where ASGI's differ."""

    def both(method, path, **kwargs):
        here, there = (
            (response.status_code, response.headers.get("Content-Type"), body)
            for response, body in answers(method, path, **kwargs)
        )
        assert here == there
        return here

    return both


@pytest.mark.parametrize("path", ["/", "/async/", "/healthz"])
def test_plain_endpoints_answer_ok(ask, path):
    assert ask("get", path) == (200, "text/html; charset=utf-8", b"OK")


@pytest.mark.parametrize("body", [b"\0\xff", MB_4], ids=["two bytes", "4 MB"])
def test_echo_returns_the_body_and_its_type(ask, body):
    answer = ask("post", "/echo", data=body, content_type="application/x-thing")
    assert answer == (200, "application/x-thing", body)


def test_echo_of_nothing_is_empty(ask):
    # Without a body, Django's test clients send no content type either.
    answer = ask("post", "/echo", data=b"", content_type="application/x-thing")
    assert answer == (200, "application/octet-stream", b"")


def test_echo_takes_nothing_but_post(ask):
    assert ask("get", "/echo")[0] == 405


def test_inspect_tells_what_django_saw(ask, wsgi, asgi):
    for client in (wsgi, asgi):
        client.cookies["c"] = "1"
    _, content_type, body = ask(
        "post",
        "/inspect/?a=1&b=%C3%A9&a=2",
        data=b"xyz",
        content_type="text/plain",
        headers={"x-repeated": "one,two"},
    )
    assert content_type == "application/json"
    seen = json.loads(body)
    assert seen["method"] == "POST"
    assert seen["query_string"] == "a=1&b=%C3%A9&a=2"
    assert seen["parameters"] == {"a": ["1", "2"], "b": ["é"]}
    assert seen["headers"]["X-Repeated"] == "one, two"
    assert seen["cookies"] == {"c": "1"}
    assert (seen["body_bytes"], seen["body_sha256"]) == (3, hashlib.sha256(b"xyz").hexdigest())


def test_stream_sends_its_chunks_in_order(ask):
    assert ask("get", "/stream/?chunks=11&size=2")[2] == b"0011223344556677889900"


@pytest.mark.parametrize("query", ["chunks=-1", "chunks=x", "size=99999999", "chunks=%C2%B2"])
def test_stream_refuses_parameters_that_make_no_sense(ask, query):
    assert ask("get", f"/stream/?{query}")[0] == 400


def test_an_exception_is_a_500_without_its_text(ask):
    status, _, body = ask("get", "/error/")
    assert status == 500
    assert b"as asked" not in body


def test_an_unknown_path_is_a_404(ask):
    assert ask("get", "/nope")[0] == 404
