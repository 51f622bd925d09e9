"""The endpoints that do a kind of work: a template, waiting, computing, an upload, a stream, a file."""

import asyncio
import hashlib
import re
import time

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test.client import encode_multipart
from endpoints import cpu, wait


def test_the_template_makes_a_page_of_a_hundred_rows(answers, prefix):
    for response, body in answers("get", f"{prefix}/template"):
        page = body.decode()
        assert (response.status_code, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert len(re.findall("<td>[0-9]+</td>", page)) == 100
        assert "Customer &amp; Sons &lt;1&gt;" in page
        assert "22 July 2016" in page


def test_the_sync_view_sleeps_in_its_thread(wsgi, monkeypatch):
    slept = []
    monkeypatch.setattr(wait.time, "sleep", slept.append)
    assert wsgi.get("/wait?ms=1234").content == b"OK"
    assert slept == [1.234]


def test_async_views_wait_side_by_side(asgi, monkeypatch):
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


def test_cpu_uses_as_much_cpu_time_as_asked(wsgi):
    before = time.thread_time()
    assert wsgi.get("/cpu?ms=50").content == b"OK"
    assert time.thread_time() - before >= 0.05


def test_cpu_is_cpu_time_and_not_time(monkeypatch):
    clock = iter([5.0, 5.001, 5.009, 5.011])
    monkeypatch.setattr(cpu.time, "thread_time", lambda: next(clock))
    cpu.work(0.01)
    assert list(clock) == []


@pytest.mark.parametrize("path", ["/wait", "/cpu"])
def test_zero_milliseconds_are_allowed(answers, prefix, path):
    for response, body in answers("get", f"{prefix}{path}?ms=0"):
        assert (response.status_code, body) == (200, b"OK")


@pytest.mark.parametrize("path", ["/wait?ms=-1", "/wait?ms=soon", "/cpu?ms=1.5", "/cpu?ms=99999", "/cpu?ms="])
def test_milliseconds_that_make_no_sense_are_a_400_that_says_so(answers, prefix, path):
    for response, body in answers("get", prefix + path):
        assert response.status_code == 400
        assert body == b"ms must be a whole number from 0 to 10000\n"


@pytest.mark.parametrize("size", [0, 5, 3_000_000], ids=["empty", "in memory", "in a temporary file"])
def test_an_upload_is_measured_and_hashed(answers, prefix, size):
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    form = encode_multipart("edge", {"other": "field", "file": SimpleUploadedFile("name.bin", content)})
    for response, _ in answers(
        "post", f"{prefix}/upload", data=form, content_type="multipart/form-data; boundary=edge"
    ):
        assert response.json() == {"bytes": size, "sha256": hashlib.sha256(content).hexdigest()}


@pytest.mark.parametrize("data", [{}, {"file": "a text field"}])
def test_an_upload_without_a_file_is_a_400_that_says_so(answers, prefix, data):
    for response, body in answers("post", f"{prefix}/upload", data=data):
        assert response.status_code == 400
        assert b"in the field 'file'" in body


def test_an_upload_is_a_post(answers, prefix):
    for response, _ in answers("get", f"{prefix}/upload"):
        assert response.status_code == 405


def test_the_async_stream_streams(answers):
    for response, body in answers("get", "/async/stream/?chunks=11&size=2"):
        assert response.streaming
        assert body == b"0011223344556677889900"


def test_a_static_file_comes_with_whitenoises_headers(answers):
    for response, body in answers("get", "/static/small.css"):
        assert response.status_code == 200
        assert response.headers["Content-Type"] == 'text/css; charset="utf-8"'
        assert response.headers["Cache-Control"] == "max-age=60, public"
        assert int(response.headers["Content-Length"]) == len(body) > 1000
        assert b"body {" in body


def test_a_static_file_that_has_not_changed_is_not_sent(answers, wsgi):
    tag = wsgi.head("/static/small.css").headers["ETag"]
    for response, body in answers("get", "/static/small.css", headers={"if-none-match": tag}):
        assert (response.status_code, body) == (304, b"")


def test_head_of_a_static_file_has_its_length_and_no_body(answers):
    for response, body in answers("head", "/static/small.css"):
        assert (response.status_code, body) == (200, b"")
        assert int(response.headers["Content-Length"]) > 1000


@pytest.mark.parametrize("path", ["/static/none.css", "/static/../urls.py", "/static/"])
def test_no_other_file_is_served(answers, path):
    for response, _ in answers("get", path):
        assert response.status_code == 404


def test_what_needs_no_database_opens_none(answers, monkeypatch):
    connections["default"].close()
    opened = []
    monkeypatch.setattr(type(connections["default"]), "connect", opened.append)
    for path in ("/", "/async/", "/healthz", "/json", "/async/json", "/plaintext", "/template", "/static/small.css"):
        for response, _ in answers("get", path):
            assert response.status_code == 200
    assert opened == []
