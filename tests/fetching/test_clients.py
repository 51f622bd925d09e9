"""Test the HTTP clients over real connections to an origin that is slow, fails or disconnects."""

import asyncio
import math

import pytest
from fetching import clients
from fetching.results import Exhausted, Failed, Fetched, NotInTime
from testproject.settings import fetching as settings

from loadtests.observe.gauges import GaugeFiles
from tests.fixtures.fetches import PATIENCE_S, WELL, outcome
from tests.fixtures.waiting import wait_for

JSON = {"content-type": "application/json"}
SLOW = {"stages": [{"at": 0, "latency": "10m"}]}
SILENT = {"stages": [{"at": 0, "stalls": 1}]}
RESETTING = {"stages": [{"at": 0, "resets": 1}]}


@pytest.mark.parametrize("status", [200, 201, 404, 503])
def test_answer_is_returned(origin, fetcher, status):
    recipe = {"stages": [{"at": 0, "status": status}], "body": '{"a": 1}', "headers": JSON}
    found = fetcher(origin(recipe).url).fetch()
    assert found.status == status
    if status < 300:
        assert found == Fetched(status, "application/json", b'{"a": 1}')


def test_compressed_body_is_decoded(origin, fetcher):
    recipe = {**WELL, "headers": {"content-encoding": "gzip"}}
    assert fetcher(origin(recipe).url).fetch().body == b"fine"


def test_redirect_is_not_followed(origin, fetcher):
    elsewhere = origin(WELL)
    recipe = {"stages": [{"at": 0, "status": 302}], "headers": {"location": f"{elsewhere.url}/"}}
    assert fetcher(origin(recipe).url).fetch().status == 302
    assert elsewhere.counts()["total_requests"] == 0


def test_proxy_variables_are_ignored(origin, fetcher, monkeypatch):
    proxy = origin(WELL)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    found = fetcher(origin({**WELL, "body": "the origin's"}).url).fetch()
    assert found.body == b"the origin's"


@pytest.mark.parametrize(("stage", "error"), [(SLOW, NotInTime), (SILENT, NotInTime), (RESETTING, Failed)])
def test_slow_origin_times_out(origin, fetcher, stage, error):
    client = fetcher(origin(stage).url, timeout_s=0.2)
    assert isinstance(client.fetch(), error)
    assert client.shown == (0, 0)


def test_refused_connection_is_a_failure(fetcher):
    assert isinstance(fetcher("http://127.0.0.1:1").fetch(), Failed)  # without a listener


def test_pool_reuses_its_connections(origin, fetcher):
    playing = origin({**WELL, "stages": [{"at": 0, "latency": "20ms"}]})
    client = fetcher(playing.url, pool_size=3)
    found = [outcome(future) for future in [client.begin() for _ in range(24)]]
    assert {one.status for one in found} == {200}
    counts = playing.counts()
    assert counts["most_connections"] <= 3
    assert counts["connections_opened"] <= 3
    assert counts["connections_reused"] >= 21


def test_pool_use_is_written_to_file(origin, fetcher, tmp_path):
    playing = origin(SLOW)
    client = fetcher(playing.url, tmp_path, pool_size=3, timeout_s=PATIENCE_S)
    files = GaugeFiles(tmp_path)
    assert not files.look()
    begun = [client.begin() for _ in range(12)]
    wait_for(lambda: files.look() and files.read() == client.shown == (3, 9) and playing.counts()["in_flight"] == 3)
    assert playing.counts()["most_connections"] == 3
    playing.stop()
    assert {type(outcome(future)) for future in begun} == {Failed}
    assert files.read() == client.shown == (0, 0)
    files.close()


def test_connection_wait_times_out(origin, fetcher):
    """Check that most fetches time out while they wait for the only connection, which another fetch uses."""
    client = fetcher(origin(SLOW).url, pool_size=1, timeout_s=0.5)
    found = [outcome(future) for future in [client.begin() for _ in range(16)]]
    assert {type(one) for one in found} == {NotInTime, Exhausted}
    assert sum(isinstance(one, Exhausted) for one in found) > 8
    assert client.shown == (0, 0)


@pytest.mark.parametrize(("changes", "opened"), [({}, 1), ({"keep_alive": False}, 6), ({"pools": 3}, 3)])
def test_number_of_connections_depends_on_settings(origin, fetcher, changes, opened):
    playing = origin(WELL)
    client = fetcher(playing.url, **changes)
    assert [client.fetch().status for _ in range(6)] == [200] * 6
    counts = playing.counts()
    assert (counts["connections_opened"], counts["connections_reused"]) == (opened, 6 - opened)


@pytest.mark.parametrize("fetcher", clients.OF_LOOPS, indirect=True)  # fetches in threads can't be cancelled
def test_cancelled_fetch_frees_its_connection(origin, fetcher):
    playing = origin(SLOW)
    client = fetcher(playing.url, pool_size=1, timeout_s=PATIENCE_S)
    fetching, waiting = client.begin(), client.begin()
    wait_for(lambda: client.shown == (1, 1) and playing.counts()["in_flight"] == 1)
    waiting.cancel()  # cancel one fetch at a time, because of a problem of HTTPX (docs/slow-origin.rst)
    wait_for(lambda: client.shown == (1, 0))
    fetching.cancel()
    assert wait_for(lambda: playing.counts()["fates"].get("gone"))
    wait_for(lambda: client.shown == (0, 0))
    playing.play(WELL)
    assert client.fetch().status == 200


def test_aiohttp_does_not_round_timeouts():
    """By default, aiohttp ends timeouts of more than five seconds only at whole seconds of the event loop's clock."""
    with_aiohttp = pytest.importorskip("fetching.with_aiohttp")

    async def timeout():
        client = with_aiohttp.Client(settings.fetching({"FETCH_TIMEOUT": "7.5"}), "http://127.0.0.1:1/", None)
        await client.aclose()
        return client.all[0].pool.timeout

    found = asyncio.run(timeout())
    assert (found.ceil_threshold, found.connect, found.sock_read, found.total) == (math.inf, 7.5, 7.5, None)
