"""A store that is down or slow: 503 and a line in the log; and what was acknowledged is not lost."""

import contextlib
import logging
import subprocess
import threading
import time

import pytest
from django.db import OperationalError, connection
from django.test import Client, override_settings
from questionnaire import failures, pages, turns

from loadtests.setups import redis
from tests.fixtures import datastores
from tests.questionnaire.browser import Browser


@pytest.fixture
def log(caplog):
    """A function: the lines of errors so far."""
    caplog.set_level(logging.WARNING)
    return lambda: [record.getMessage() for record in caplog.records if record.name == "questionnaire"]


@pytest.fixture(autouse=True)
def kinds_of_failures():
    failures.of_store.cache_clear()
    yield
    failures.of_store.cache_clear()


def unavailable(response):
    return (response.status_code, response.headers.get("Retry-After")) == (503, "2")


def test_a_database_that_is_down(browser, log, monkeypatch):
    browser.through(name="Ada")

    def down(*given, **named):
        raise OperationalError("the database\n is gone")

    with monkeypatch.context() as patch:
        patch.setattr("django.contrib.sessions.backends.db.SessionStore.load", down)
        patch.setattr("django.contrib.sessions.backends.db.SessionStore.aload", down)
        assert unavailable(browser.client.get(browser.base + "household/"))
    assert log() == ["the session store (django.contrib.sessions.backends.db) failed: the database is gone"]
    assert browser.get("household/").page == "household"


def test_an_answer_that_cannot_be_saved_is_not_acknowledged(browser, log, monkeypatch):
    browser.through(name="Ada")
    token = browser.form.fields["csrfmiddlewaretoken"]

    def down(*given, **named):
        raise OperationalError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("django.contrib.sessions.models.Session.save", down)
        answer = {"csrfmiddlewaretoken": token, "household": "3"}
        response = browser.client.post(browser.base + "household/", answer)
    assert unavailable(response)
    assert "was not saved" in response.content.decode()
    assert log() == ["the session store (django.contrib.sessions.backends.db) failed: disk full"]
    assert browser.get("household/").form.fields["household"] == ""


@pytest.mark.parametrize("grpc", ["1", "0"], ids=["gRPC", "HTTP"])
@pytest.mark.servers
def test_a_datastore_that_is_down_and_comes_back(base, store_of, embedded_datastore, log, grpc, answers):
    store_of(f"datastore over {'gRPC' if grpc == '1' else 'HTTP'}")
    browser = Browser(base)
    browser.through(name="Ada")
    embedded_datastore.stop()
    try:
        assert unavailable(browser.client.get(browser.base + "household/"))
        assert unavailable(browser.client.get(browser.base + "launch/", follow=True))
        assert [line.startswith("the session store (datastore_sessions.backend) failed: ") for line in log()] == [
            True
        ] * 2
    finally:
        embedded_datastore.start()
    end = time.monotonic() + 30
    while unavailable(browser.client.get(browser.base + "household/")):
        assert time.monotonic() < end
        time.sleep(0.1)
    # It was in memory: its sessions are gone, and that is said.
    assert browser.get("household/").page == "signed-out"
    assert browser.through(**answers).submit().page == "thank-you"


@pytest.fixture
def slow_datastore(store_of, embedded_datastore, monkeypatch, tmp_path):
    """A function: the project uses, by a protocol, a datastore that takes longer than its patience."""
    server = datastores.EmbeddedDatastore(tmp_path, delay_ms=3000).start()

    def use(protocol):
        store_of(f"datastore over {protocol}")
        datastores.use(tmp_path, monkeypatch)
        monkeypatch.setattr("datastore_sessions.clients.TIMEOUT_S", 0.1)

    yield use
    server.stop()


@pytest.mark.parametrize("protocol", ["gRPC", "HTTP"])
@pytest.mark.servers
def test_a_datastore_that_is_slow(base, slow_datastore, log, protocol):
    slow_datastore(protocol)
    assert unavailable(Browser(base).client.get(base + "launch/", follow=True))
    assert len(log()) == 1


class OwnRedis:
    """A Redis on a socket, in memory."""

    def __init__(self, folder):
        self.folder = folder

    def start(self):
        options = ("--port", "0", "--unixsocket", self.folder / "r", "--save", "", "--appendonly", "no")
        self.process = subprocess.Popen(
            [redis.executable(), *options], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 20
        while not (self.folder / "r").exists():
            assert time.monotonic() < end
            time.sleep(0.02)

    def stop(self):
        self.process.kill()
        self.process.wait(10)
        (self.folder / "r").unlink(missing_ok=True)


@pytest.fixture
def own_redis(tmp_path_factory):
    if redis.executable() is None:
        pytest.skip("there is no Redis here (apt-get install redis-server)")
    server = OwnRedis(tmp_path_factory.mktemp("r"))
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize("engine", ["cache"])
@pytest.mark.servers
def test_a_redis_that_restarts(base, own_redis, log, engine, answers):
    where = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": f"unix://{own_redis.folder}/r"}
    with override_settings(SESSION_ENGINE=f"django.contrib.sessions.backends.{engine}", CACHES={"default": where}):
        browser = Browser(base)
        browser.through(name="Ada")
        own_redis.stop()
        assert unavailable(browser.client.get(browser.base + "household/"))
        assert len(log()) == 1
        own_redis.start()
        assert browser.get("household/").page == "signed-out"
        assert browser.through(**answers).submit().page == "thank-you"


def test_two_tabs_that_answer_in_the_same_instant(browser, answers, monkeypatch):
    """Each reads the session before the other has written it, if it can: nobody's answer may be lost."""
    browser.through(**answers)
    token = browser.form.fields["csrfmiddlewaretoken"]
    both_have_read = threading.Barrier(2)
    outcome = pages.outcome

    def slowly(*given):
        with contextlib.suppress(threading.BrokenBarrierError):  # the other one waits for its turn, as it should
            both_have_read.wait(0.5)
        return outcome(*given)

    monkeypatch.setattr(pages, "outcome", slowly)
    status = []

    def answer(page, value):
        tab = Client()
        tab.cookies.load({name: morsel.value for name, morsel in browser.client.cookies.items()})
        path = f"{browser.base}{page}/?change=1"
        status.append(tab.post(path, {"csrfmiddlewaretoken": token, page: value}).status_code)
        connection.close()

    tabs = [threading.Thread(target=answer, args=one) for one in (("name", "Grace"), ("household", "7"))]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    monkeypatch.undo()
    assert status == [302, 302]
    shown = browser.get("summary/").summary
    assert (shown["name"], shown["household"]) == ("Grace", "7")


def test_a_turn_that_does_not_come_is_said(monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE_S", 0.05)
    with turns.turn("somebody"), pytest.raises(TimeoutError, match="has not ended"), turns.turn("somebody"):
        pass
    with turns.turn("somebody"), turns.turn("somebody else"):
        pass
