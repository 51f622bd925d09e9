"""What a session store must do by itself, asked of Django's stores and of ours, by the synchronous and by the
asynchronous methods. What all stores inherit is in Django's own tests (``test_djangos_session_tests``)."""

import asyncio
import datetime
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.sessions.backends.base import VALID_KEY_CHARS, CreateError, UpdateError
from django.utils import timezone
from django.utils.crypto import get_random_string

from tests.fixtures.exhaustive import COMMON_STORES, exhaustive_but

ON_SERVERS = [
    pytest.param(name, marks=pytest.mark.servers) for name in ("redis", "datastore over gRPC", "datastore over HTTP")
]
STORES = ("db", "cached_db", "file", *ON_SERVERS)


@pytest.fixture(scope="module")
def loop():
    made = asyncio.new_event_loop()
    yield made
    made.run_until_complete(made.shutdown_default_executor())
    made.close()


def a_key():
    """One that nobody has."""
    return get_random_string(32, VALID_KEY_CHARS)


class Sessions:
    """Sessions of a class, whose methods are called synchronously or not."""

    def __init__(self, store, loop=None):
        self.store = store
        self.loop = loop

    def __call__(self, key=None):
        return Session(self.store(key), self.loop)

    def clear_expired(self):
        if self.loop is None:
            self.store.clear_expired()
        else:
            self.loop.run_until_complete(self.store.aclear_expired())


class Session:
    """A session; `s.save()` is `save` or `asave`."""

    ASYNCHRONOUS = frozenset(("load", "save", "create", "delete", "exists", "get", "set", "items", "set_expiry"))

    def __init__(self, session, loop):
        self.session = session
        self.loop = loop

    def __getattr__(self, name):
        if name == "set" and self.loop is None:
            return self.session.__setitem__
        if self.loop is None or name not in self.ASYNCHRONOUS:
            return getattr(self.session, name)
        return lambda *given, **named: self.loop.run_until_complete(getattr(self.session, f"a{name}")(*given, **named))


@pytest.fixture(params=exhaustive_but(COMMON_STORES, STORES))
def store(request, store_of):
    return store_of(request.param)


@pytest.fixture(params=["sync", "async"])
def sessions(request, store):
    return Sessions(store, request.getfixturevalue("loop") if request.param == "async" else None)


@pytest.fixture
def saved(sessions):
    """A session with something in it that was saved."""
    session = sessions()
    session.set("cat", "dog")
    session.save()
    return session


def test_what_is_saved_exists_under_a_key_and_is_loaded_again(sessions, saved):
    assert saved.modified
    assert len(saved.session_key) == 32
    assert saved.exists(saved.session_key)
    assert not saved.exists(a_key())
    again = sessions(saved.session_key)
    assert (again.get("cat"), again.modified) == ("dog", False)
    again.set("cat", "mouse")
    again.save()
    assert sessions(saved.session_key).get("cat") == "mouse"


@pytest.mark.parametrize("value", ["", "\u00e9\u65e5\U0001f600", "x" * 100_000, ["a", {"b": None}], 1.5])
def test_any_value_of_json_can_be_kept(sessions, saved, value):
    saved.set("value", value)
    saved.save()
    assert sessions(saved.session_key).get("value") == value


def test_a_key_that_nobody_gave_is_not_taken(sessions):
    """Else somebody could make another use a session that they know."""
    given = a_key()
    session = sessions(given)
    assert dict(session.items()) == {}
    session.set("cat", "dog")
    session.save()
    assert session.session_key not in (None, given)
    assert not session.exists(given)


@pytest.mark.parametrize("with_key", [True, False])
def test_a_deleted_session_is_gone(sessions, saved, with_key):
    key = saved.session_key
    saved.delete(*([key] if with_key else []))
    assert not saved.exists(key)
    assert sessions(key).get("cat") is None


def test_a_session_that_does_not_exist_can_be_deleted(sessions):
    sessions().delete()
    sessions().delete(a_key())


def test_creating_saves_under_a_key_of_its_own(sessions):
    one, two = sessions(), sessions()
    one.create()
    two.create()
    assert one.session_key != two.session_key
    assert one.exists(one.session_key)
    assert one.modified


def test_only_a_key_that_is_free_can_be_created(sessions, saved):
    other = sessions(saved.session_key)
    other.clear()
    other.set("cat", "mouse")
    with pytest.raises(CreateError):
        other.save(must_create=True)
    assert sessions(saved.session_key).get("cat") == "dog"
    free = sessions(a_key())
    free.clear()
    free.save(must_create=True)
    assert free.exists(free.session_key)


def test_of_many_that_create_a_key_at_once_one_does(store):
    """Two tabs with one link: one of them signs in."""

    key = a_key()

    def create(_):
        session = store(key)
        session.clear()
        try:
            session.save(must_create=True)
        except CreateError:
            return False
        finally:
            if hasattr(session, "model"):
                from django.db import connection

                connection.close()
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(create, range(16))) == 1


def test_a_session_that_was_deleted_meanwhile_is_not_brought_back(sessions, saved):
    """Somebody signs out in one tab while another still answers."""
    other = sessions(saved.session_key)
    other.set("cat", "mouse")
    saved.delete(saved.session_key)
    with pytest.raises(UpdateError):
        other.save()
    assert not saved.exists(saved.session_key)


@pytest.mark.parametrize("expiry", [-1, datetime.timedelta(seconds=-5)])
def test_an_expired_session_is_not_loaded_and_gets_a_new_key(sessions, saved, expiry):
    key = saved.session_key
    saved.set_expiry(expiry if expiry == -1 else timezone.now() + expiry)
    saved.save()
    session = sessions(key)
    assert dict(session.items()) == {}
    session.set("cat", "mouse")
    session.save()
    assert session.session_key != key


def test_the_expired_ones_can_be_cleared(sessions, saved):
    expired = [sessions() for _ in range(3)]
    for session in expired:
        session.set("cat", "mouse")
        session.set_expiry(-3600)
        session.save()
    sessions.clear_expired()
    assert [saved.exists(session.session_key) for session in expired] == [False] * 3
    assert sessions(saved.session_key).get("cat") == "dog"
