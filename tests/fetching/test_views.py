"""Test the fetching views with Django's WSGI and ASGI handlers."""

import asyncio

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.handlers.asgi import ASGIHandler
from django.test import Client
from fetching import clients

from tests.fixtures.fetches import PATIENCE_S, WELL, aclose_own
from tests.fixtures.waiting import wait_for

PLAIN = ["/fetch", "/async/fetch", "/either/fetch"]
RESILIENT = [f"{path}/resilient" for path in PLAIN]
FAILING = {"stages": [{"at": 0, "status": 503}]}

pytest.importorskip("aiohttp")


def test_all_views_return_the_answer(origin, served, ask):
    served(origin({**WELL, "stages": [{"at": 0, "status": 201}], "headers": {"content-type": "text/css"}}).url)
    for response in ask(*PLAIN, *RESILIENT):
        assert (response.status_code, response.content) == (201, b"fine")
        assert response["Content-Type"] == "text/css"
        assert float(response["X-Fetch-Ms"]) > 0
        assert "X-Stale" not in response
        assert "X-Fetch-Failed" not in response


@pytest.mark.parametrize(
    ("recipe", "status", "kind", "says"),
    [
        ({"stages": [{"at": 0, "latency": "10m"}]}, 504, "timeout", "the origin did not answer within FETCH_TIMEOUT"),
        ({"stages": [{"at": 0, "resets": 1}]}, 502, "failed", "the connection to the origin failed or broke"),
    ],
)
def test_failure_is_explained_in_response(origin, served, ask, recipe, status, kind, says):
    served(origin(recipe).url, timeout_s=0.2)
    for response in ask(*PLAIN, *RESILIENT[:2]):  # the third request would find an open breaker
        assert (response.status_code, response["X-Fetch-Failed"]) == (status, kind)
        assert response.content.decode() == f"{says}\n"


def test_origin_failure_is_not_logged(origin, served, ask, caplog):
    served(origin(FAILING).url)
    for response in ask(*PLAIN, *RESILIENT[:1]):
        assert (response.status_code, response.content) == (503, b"Error 503")
        assert "X-Fetch-Failed" not in response
    assert [record for record in caplog.records if record.name == "django.request"] == []


def test_resilient_views_mark_stale_copies(origin, served, ask):
    playing = origin(WELL)
    served(playing.url)
    assert [response.status_code for response in ask(*RESILIENT)] == [200] * 3
    playing.play(FAILING)
    for response in ask(*RESILIENT):
        assert (response.status_code, response.content, response["X-Stale"]) == (200, b"fine", "1")
    assert [response.status_code for response in ask(*PLAIN)] == [503] * 3


def test_open_breaker_protects_the_origin(origin, served, ask):
    playing = origin(FAILING)
    served(playing.url)
    last = ask(*RESILIENT[:2] * 10)[-1]
    assert (last.status_code, last["X-Fetch-Failed"]) == (503, "open")
    assert playing.counts()["total_requests"] < 20


def test_request_cannot_choose_the_origin(origin, served, ask):
    elsewhere, playing = origin(WELL), origin([{**WELL, "route": "/news"}])
    served(playing.url, path="/news")
    headers = {"X-Forwarded-Host": "127.0.0.1:1", "X-Url": elsewhere.url}
    found = ask(f"/fetch?url={elsewhere.url}/&path=/other", **headers)
    assert [response.status_code for response in found] == [200]
    assert elsewhere.counts()["total_requests"] == 0
    assert playing.counts()["fates"] == {"answered": 1}


def test_unsuitable_client_error_suggests_clients(origin, served, ask):
    served(origin(WELL).url, client="requests")
    one, other, either = ask(*PLAIN)
    assert one.status_code == 200
    assert other.status_code == 500
    says = "HTTP_CLIENT=requests does not work in asynchronous views. Use aiohttp or httpx-async\n"
    assert other.content.decode() == says
    assert either.status_code == (200 if ask.handler == "wsgi" else 500)  # sync over WSGI


def test_missing_origin_is_reported(origin, served, ask, tmp_path):
    served(None, url_file=None)
    for response in ask(*PLAIN, *RESILIENT):
        assert (response.status_code, response["X-Fetch-Failed"]) == (503, "no-origin")
        assert response.content.startswith(b"there is no origin: set ORIGIN_URL")
    file = tmp_path / "origin.url"
    served(None, url_file=file)
    assert {response.status_code for response in ask(*PLAIN)} == {503}
    file.write_text(f"{origin(WELL).url}\n")
    assert {response.status_code for response in ask(*PLAIN)} == {200}


def test_fetching_views_refuse_post(origin, served):
    playing = origin(WELL)
    served(playing.url)
    assert Client().post("/fetch").status_code == 405
    assert playing.counts()["total_requests"] == 0


@pytest.mark.parametrize("path", ["/async/fetch", "/either/fetch", "/async/fetch/resilient"])
def test_disconnected_client_cancels_the_fetch(origin, served, path):
    playing = origin({"stages": [{"at": 0, "latency": "10m"}]})
    served(playing.url, timeout_s=PATIENCE_S)
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [(b"host", b"testserver")]}

    async def ask_and_leave():
        asking = ApplicationCommunicator(ASGIHandler(), scope)
        await asking.send_input({"type": "http.request"})
        await asyncio.to_thread(wait_for, lambda: playing.counts()["in_flight"] == 1)
        await asking.send_input({"type": "http.disconnect"})
        await asking.wait(PATIENCE_S)
        counts = await asyncio.to_thread(wait_for, lambda: playing.counts()["fates"] and playing.counts())
        await aclose_own()
        return counts

    assert asyncio.run(ask_and_leave())["fates"] == {"gone": 1}
    assert (clients._gauge().in_use, clients._gauge().waiting) == (0, 0)


def test_wsgi_closes_async_view_connections(origin, served):
    """Over WSGI, the event loop and the event loop's pool of connections end with each request."""
    playing = origin(WELL)
    served(playing.url)
    assert [Client().get("/async/fetch").status_code for _ in range(3)] == [200] * 3
    assert playing.counts()["connections_opened"] == 3
    wait_for(lambda: playing.counts()["connections_open"] == 0)
