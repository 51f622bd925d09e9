"""Test failing and slow session stores: the answer is 503 with a log line, and acknowledged answers aren't lost."""

import contextlib
import itertools

import pytest
from django.db import OperationalError
from django.test import override_settings
from django.utils.module_loading import import_string
from questionnaire import failures, pages
from redis.exceptions import ConnectionError as RedisGone

from tests.fixtures import datastores
from tests.fixtures.waiting import wait_for
from tests.questionnaire.browser import Browser, unavailable

STORE = "django.contrib.sessions.backends.db"


@pytest.fixture
def failing(monkeypatch):
    """Return a context manager that makes methods fail.

    The arguments are the methods' dotted paths. If ``calls`` is set, only the calls with these numbers fail.
    """

    @contextlib.contextmanager
    def failing(*names, why="disk full", error=OperationalError, calls=None):
        with monkeypatch.context() as patch:
            for name in names:
                owner, _, attribute = name.rpartition(".")
                method, number = getattr(import_string(owner), attribute), itertools.count(1)

                def fails(*given, method=method, number=number, **named):
                    if calls is None or next(number) in calls:
                        raise error(why)
                    return method(*given, **named)

                patch.setattr(name, fails)
            yield

    return failing


def test_failed_database_gets_503(browser, log, failing):
    browser.through(name="Ada")
    with failing(f"{STORE}.SessionStore.load", f"{STORE}.SessionStore.aload", why="the database\n is gone"):
        assert unavailable(browser.client.get(browser.base + "household/"))
    assert log() == ["the session store (django.contrib.sessions.backends.db) failed: the database is gone"]
    assert browser.get("household/").page == "household"


def test_unsaved_answer_is_not_acknowledged(browser, log, failing):
    browser.through(name="Ada")
    token = browser.form.fields["csrfmiddlewaretoken"]
    with failing("django.contrib.sessions.models.Session.save"):
        answer = {"csrfmiddlewaretoken": token, "household": "3"}
        response = browser.client.post(browser.base + "household/", answer)
    assert unavailable(response)
    assert "was not saved" in response.content.decode()
    assert log() == ["the session store (django.contrib.sessions.backends.db) failed: disk full"]
    assert browser.get("household/").form.fields["household"] == ""


@pytest.mark.parametrize(("engine", "afterwards"), [("cache", "signed-out"), ("cached_db", "household")])
@pytest.mark.servers
def test_restarted_redis_loses_sessions(database, own_redis, log, engine, afterwards, answers):
    """Redis doesn't save its data, so sessions that aren't in the database are lost, and a message is logged."""
    with override_settings(SESSION_ENGINE=f"django.contrib.sessions.backends.{engine}", CACHES=own_redis.caches):
        browser = Browser()
        browser.through(name="Ada")
        own_redis.stop()
        response = browser.client.get(browser.base + "household/")
        assert unavailable(response)
        assert "sessionid" not in response.cookies  # the cookie is kept, because the session may be available again
        assert len(log()) == 1
        own_redis.start()
        assert browser.get("household/").page == afterwards
        assert browser.through(**answers).submit().page == "thank-you"


@pytest.mark.servers
def test_single_redis_failure_keeps_session(store_of, log, failing):
    """After a failed read, Django's cache store doesn't create a new session. Redis works again for the next read."""
    store_of("redis")
    browser = Browser().through(name="Ada")
    with failing("django.core.cache.backends.redis.RedisCacheClient.get", error=RedisGone, calls=[1]):
        response = browser.client.get(browser.base + "household/")
    assert unavailable(response)
    assert "sessionid" not in response.cookies
    assert log() == [f"the session store ({failures.CACHE}) failed: {failures.UNREAD}"]
    assert browser.get("name/").form.fields["name"] == "Ada"


def test_logout_during_answer_redirects(store_of, monkeypatch):
    """If a user logs out in another tab while an answer is saved, the response is a redirect, not a bad request."""
    store = store_of("file")
    browser = Browser().through(name="Ada")
    outcome = pages.outcome

    def ended_meanwhile(request, *given):
        store(request.session.session_key).delete()
        return outcome(request, *given)

    monkeypatch.setattr(pages, "outcome", ended_meanwhile)
    assert browser.submit(household="3").page == "signed-out"
    assert browser.response.redirect_chain == [("/questionnaire/signed-out/", 302)]


@pytest.mark.parametrize("call", [1, 2], ids=["the session", "the note of the use"])
def test_link_works_until_login(browser, failing, call):
    path = browser.client.get(browser.base + "launch/")["Location"]
    with failing("django.contrib.sessions.models.Session.save", calls=[call]):
        assert unavailable(browser.client.get(path))
    assert browser.get(path.removeprefix(browser.base)).page == "introduction"


def test_cookie_of_other_store_is_harmless(store_of):
    store_of("file")
    browser = Browser()
    browser.client.cookies["sessionid"] = "eyJhIjoxfQ/1tQ_2-signed"
    assert browser.launch().page == "introduction"


@pytest.fixture(params=["gRPC", "HTTP"])
def own_datastore(request, store_of, embedded_datastore, monkeypatch, tmp_path):
    """Return a function that starts a datastore for the sessions. Keyword arguments are the datastore's settings.

    A test may stop and restart the datastore.
    """
    started = []

    def start(**settings):
        store_of(f"datastore over {request.param}")
        started.append(datastores.EmbeddedDatastore(tmp_path, **settings).start())
        started[0].use(monkeypatch)
        return started[0]

    yield start
    for one in started:
        one.stop()


@pytest.mark.servers
@pytest.mark.exhaustive
def test_datastore_recovers_from_failure(own_datastore, log, answers):
    server = own_datastore()
    browser = Browser().through(name="Ada")
    server.kill()
    assert unavailable(browser.client.get(browser.base + "household/"))
    assert unavailable(browser.client.get(browser.base + "launch/", follow=True))
    failed = "the session store (datastore_sessions.backend) failed: "
    assert [line.startswith(failed) for line in log()] == [True] * 2
    server.start()
    wait_for(lambda: not unavailable(browser.client.get(browser.base + "household/")))
    assert browser.get("household/").page == "signed-out"
    assert browser.through(**answers).submit().page == "thank-you"
