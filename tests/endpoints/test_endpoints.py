"""Test that the endpoints give the expected answers, which are equal over WSGI and ASGI."""

import asyncio
import hashlib
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test.client import encode_multipart
from endpoints import cpu, wait

MB_4 = bytes(range(256)) * 4096 * 4
HTML = "text/html; charset=utf-8"
MS = b"ms must be a whole number from 0 to 10000\n"


@pytest.mark.parametrize("path", ["/", "/async/", "/healthz", "/wait?ms=0", "/async/wait?ms=0", "/cpu?ms=0"])
def test_simple_endpoints_answer_ok(ask, path):
    assert ask("get", path) == (200, HTML, b"OK")


@pytest.mark.parametrize(
    ("method", "path", "status", "says"),
    [
        ("get", "/nope", 404, b""),
        ("get", "/echo", 405, b""),
        ("get", "/upload", 405, b""),
        ("post", "/upload", 400, b"in the field 'file'"),
        ("get", "/stream/?chunks=-1", 400, b"chunks must be"),
        ("get", "/stream/?chunks=x", 400, b"chunks must be"),
        ("get", "/stream/?chunks=%C2%B2", 400, b"chunks must be"),
        ("get", "/stream/?size=99999999", 400, b"size must be"),
        ("get", "/wait?ms=-1", 400, MS),
        ("get", "/async/wait?ms=soon", 400, MS),
        ("get", "/cpu?ms=99999", 400, MS),
        ("get", "/cpu?ms=", 400, MS),
        ("get", "/static/none.css", 404, b""),
        ("get", "/static/../urls.py", 404, b""),
        ("get", "/static/", 404, b""),
        ("get", "/error/", 500, b""),
    ],
)
def test_invalid_request_gets_error_status(ask, method, path, status, says):
    found, _, body = ask(method, path, **({"data": {"file": "a text field"}} if method == "post" else {}))
    assert found == status
    assert says in body
    assert b"on purpose" not in body  # the exception's message isn't shown


@pytest.mark.parametrize("body", [b"\0\xff", MB_4], ids=["two bytes", "4 MB"])
def test_echo_returns_body_with_type(ask, body):
    assert ask("post", "/echo", data=body, content_type="application/x-thing") == (200, "application/x-thing", body)


def test_inspect_returns_the_request(ask, wsgi, asgi):
    for client in (wsgi, asgi):
        client.cookies["c"] = "1"
    path, headers = "/inspect/?a=1&b=%C3%A9&a=2", {"x-repeated": "one,two"}
    _, content_type, body = ask("post", path, data=b"xyz", content_type="text/plain", headers=headers)
    assert content_type == "application/json"
    seen = json.loads(body)
    assert (seen["method"], seen["query_string"]) == ("POST", "a=1&b=%C3%A9&a=2")
    assert seen["parameters"] == {"a": ["1", "2"], "b": ["é"]}
    assert (seen["headers"]["X-Repeated"], seen["cookies"]) == ("one, two", {"c": "1"})
    assert (seen["body_bytes"], seen["body_sha256"]) == (3, hashlib.sha256(b"xyz").hexdigest())


def test_stream_sends_chunks_in_order(answers):
    for response, body in answers("get", "/stream/?chunks=11&size=2"):
        assert (response.streaming, body) == (True, b"0011223344556677889900")


def test_template_has_a_hundred_rows(ask):
    status, content_type, body = ask("get", "/template")
    page = body.decode()
    assert (status, content_type) == (200, HTML)
    assert len(re.findall("<td>[0-9]+</td>", page)) == 100
    assert "Customer &amp; Sons &lt;1&gt;" in page
    assert "22 July 2016" in page


def test_sync_view_blocks_its_thread(wsgi, monkeypatch):
    slept = []
    monkeypatch.setattr(wait.time, "sleep", slept.append)
    assert wsgi.get("/wait?ms=1234").content == b"OK"
    assert slept == [1.234]


def test_async_views_wait_concurrently(asgi, monkeypatch):
    slept = []

    async def until_all_sleep(seconds):
        slept.append(seconds)
        while len(slept) < 20:
            await no_time(0)

    async def twenty():
        found = await asyncio.gather(*(asgi.get("/async/wait?ms=300") for _ in range(20)))
        return [response.content for response in found]

    no_time = asyncio.sleep
    monkeypatch.setattr(wait.asyncio, "sleep", until_all_sleep)
    assert asyncio.run(twenty()) == [b"OK"] * 20
    assert slept == [0.3] * 20


def test_cpu_view_uses_requested_time(wsgi, monkeypatch):
    clock = iter([5.0, 5.001, 5.009, 5.011])
    monkeypatch.setattr(cpu.time, "thread_time", lambda: next(clock))
    assert wsgi.get("/cpu?ms=10").content == b"OK"
    assert list(clock) == []


@pytest.mark.parametrize("size", [0, 5, 3_000_000], ids=["empty", "in memory", "in a temporary file"])
def test_upload_returns_size_and_hash(ask, size):
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    form = encode_multipart("edge", {"other": "field", "file": SimpleUploadedFile("name.bin", content)})
    _, _, body = ask("post", "/upload", data=form, content_type="multipart/form-data; boundary=edge")
    assert json.loads(body) == {"bytes": size, "sha256": hashlib.sha256(content).hexdigest()}


def test_whitenoise_serves_static_file(answers, wsgi):
    tag = wsgi.head("/static/small.css").headers["ETag"]
    for method, headers, status in (("get", {}, 200), ("head", {}, 200), ("get", {"if-none-match": tag}, 304)):
        for response, body in answers(method, "/static/small.css", headers=headers):
            assert (response.status_code, response.headers["Cache-Control"]) == (status, "max-age=60, public")
            assert bool(body) == (method == "get" and status == 200)
            if status == 200:
                assert response.headers["Content-Type"] == 'text/css; charset="utf-8"'
                assert int(response.headers["Content-Length"]) > 1000
            if body:
                assert int(response.headers["Content-Length"]) == len(body)
                assert b"body {" in body


def test_simple_views_open_no_database_connection(ask, monkeypatch):
    connections["default"].close()
    opened = []
    monkeypatch.setattr(type(connections["default"]), "connect", opened.append)
    for path in ("/", "/async/", "/healthz", "/json", "/async/json", "/plaintext", "/template", "/static/small.css"):
        assert ask("get", path)[0] == 200
    assert opened == []
