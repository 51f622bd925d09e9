"""Test the fetching views on real servers, with an origin as their supporting service."""

import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from loadtests.observe.gauges import GaugeFiles
from tests.fixtures.fetches import WELL
from tests.fixtures.served import served
from tests.fixtures.waiting import wait_for

pytestmark = pytest.mark.servers
pytest.importorskip("aiohttp")


def get(url):
    """Request a URL, and return the status, body and headers of the answer."""
    try:
        with urllib.request.urlopen(url, timeout=60) as response:
            return response.status, response.read(), response.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["gunicorn-gthread", "gunicorn-gevent", "uvicorn"])
def test_started_setup_fetches_immediately(name):
    """Check the first answers, and the use of the pools while the origin delays all answers."""
    knobs = {"WORKERS": "2", "THREADS": "8", "POOL_SIZE": "2", "ORIGIN_RECIPE": "slow", "FETCH_TIMEOUT": "60"}
    with served(name, "origin", **knobs) as running:
        url = f"{running.url}/either/fetch"
        status, body, headers = get(url)
        assert (status, len(body)) == (200, 4096)
        assert float(headers["X-Fetch-Ms"]) >= 1000
        files = GaugeFiles(running.folder)
        with ThreadPoolExecutor(8) as threads:
            answers = [threads.submit(get, url) for _ in range(8)]
            wait_for(lambda: files.look() and files.read()[0] >= 2)
            assert {answer.result()[0] for answer in answers} == {200}
        wait_for(lambda: files.read() == (0, 0))
        files.close()


@pytest.mark.exhaustive
def test_origin_url_replaces_the_service(origin):
    playing = origin({**WELL, "body": "the named one"})
    with served("gunicorn", "origin", ORIGIN_URL=playing.url) as running:
        assert get(f"{running.url}/fetch")[:2] == (200, b"the named one")
        assert not (running.folder / "origin.url").exists()
        assert [part.role for part in running.parts()] == ["web"]
        assert running.failed() is None
