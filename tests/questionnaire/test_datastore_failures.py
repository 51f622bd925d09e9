"""A datastore that is down, slow or full: 503 and a line in the log; and what was acknowledged is not lost."""

import pytest

types = pytest.importorskip("google.cloud.datastore_v1.types")

from google.api_core import exceptions  # noqa: E402

from tests.fixtures import datastores  # noqa: E402
from tests.fixtures.exhaustive import exhaustive_but  # noqa: E402
from tests.fixtures.waiting import wait_for  # noqa: E402
from tests.questionnaire.browser import Browser, unavailable  # noqa: E402

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers]
FAILED = "the session store (datastore_sessions.backend) failed: "
PROJECT = "django-serving-benchmark"


@pytest.fixture(params=exhaustive_but("gRPC", ["gRPC", "HTTP"]))
def protocol(request):
    return request.param


@pytest.fixture
def own_datastore(store_of, embedded_datastore, protocol, monkeypatch, tmp_path):
    """A function: a datastore with these settings, which a test may stop and start again, holds the sessions."""
    started = []

    def start(**settings):
        store_of(f"datastore over {protocol}")
        started.append(datastores.EmbeddedDatastore(tmp_path, **settings).start())
        started[0].use(monkeypatch)
        return started[0]

    yield start
    for one in started:
        one.stop()


@pytest.mark.parametrize(("data", "afterwards"), [("memory", "signed-out"), ("sqlite", "household")])
def test_a_datastore_that_is_down_and_comes_back(base, own_datastore, log, data, afterwards, answers):
    """Where it keeps its data in memory its sessions are gone, and that is said; in SQLite they are not."""
    server = own_datastore(DATA=data)
    browser = Browser(base).through(name="Ada")
    server.kill()
    assert unavailable(browser.client.get(browser.base + "household/"))
    assert unavailable(browser.client.get(browser.base + "launch/", follow=True))
    assert [line.startswith(FAILED) for line in log()] == [True] * 2
    server.start()
    wait_for(lambda: not unavailable(browser.client.get(browser.base + "household/")))
    assert browser.get("household/").page == afterwards
    if data == "sqlite":
        assert browser.get("name/").form.fields["name"] == "Ada"
    assert browser.through(**answers).submit().page == "thank-you"


def test_a_datastore_that_is_slow(base, own_datastore, log, monkeypatch):
    own_datastore(DELAY_MS=3000)
    monkeypatch.setattr("datastore_sessions.clients.TIMEOUT_S", 0.1)
    assert unavailable(Browser(base).client.get(base + "launch/", follow=True))
    assert len(log()) == 1


class Filling:
    """What else is in a datastore, until it is full."""

    def __init__(self):
        self.keys = []

    def put(self, size):
        partition = types.PartitionId(project_id=PROJECT)
        path = [types.Key.PathElement(kind="Filling", name=f"{len(self.keys)}")]
        key = types.Key(partition_id=partition, path=path)
        value = types.Value(string_value="x" * size, exclude_from_indexes=True)
        self._commit(types.Mutation(upsert=types.Entity(key=key, properties={"text": value})))
        self.keys.append(key)

    def until_full(self):
        for size in (50_000, 3_000):  # the latter a page of the file
            with pytest.raises((exceptions.ResourceExhausted, exceptions.TooManyRequests)):
                self._without_end(size)

    def _without_end(self, size):
        while True:
            self.put(size)

    def clear(self):
        self._commit(*(types.Mutation(delete=key) for key in self.keys))

    def _commit(self, *mutations):
        from datastore_sessions.clients import call

        mode = types.CommitRequest.Mode.NON_TRANSACTIONAL
        call("commit", types.CommitRequest(project_id=PROJECT, mode=mode, mutations=mutations))


def test_a_datastore_that_is_full(base, own_datastore, log, answers):
    """Who is signed in goes on, for their session has its place. Nobody new is signed in, and their link stays good."""
    own_datastore(DATA="sqlite", MOST_MB=1)
    filling, browser, late = Filling(), Browser(base).through(name="Ada"), Browser(base)
    filling.until_full()
    assert browser.submit(household="3").page == "moved"
    link = late.client.get(base + "launch/")["Location"]
    assert unavailable(late.client.get(link))
    [line] = log()
    assert line.startswith(FAILED)
    assert "database or disk is full" in line
    assert "sessionid" not in late.client.cookies
    filling.clear()
    assert late.get(link.removeprefix(base)).page == "introduction"
    assert browser.get("household/").form.fields["household"] == "3"
