"""Test the properties of session stores that the questionnaire needs.

test_djangos_session_tests.py runs Django's own tests with this project's store.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.sessions.backends.base import VALID_KEY_CHARS, CreateError
from django.test import override_settings
from django.utils.crypto import get_random_string

from tests.fixtures.exhaustive import COMMON_STORES, exhaustive_but
from tests.questionnaire.browser import Browser

STORES = [
    "db", *(pytest.param(f"datastore over {protocol}", marks=pytest.mark.servers) for protocol in ("gRPC", "HTTP"))
]  # fmt: skip


def a_key():
    """Return an unused session key."""
    return get_random_string(32, VALID_KEY_CHARS)


@pytest.fixture(params=exhaustive_but(COMMON_STORES, STORES))
def store(request, store_of):
    return store_of(request.param)


def test_concurrent_creation_succeeds_once(store):
    """If two tabs open the same link at once, only one tab logs in."""
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


JOURNEYS = ["cached_db", "file", "cookies", pytest.param("redis", marks=pytest.mark.servers), *STORES]


@pytest.mark.parametrize("name", exhaustive_but(COMMON_STORES, JOURNEYS))
def test_whole_journey_uses_token_once(store_of, name, answers):
    store_of(name)
    with override_settings(QUESTIONNAIRE_STATE_BYTES=2048 if name == "cookies" else 8192):
        browser = Browser()
        path = browser.client.get("/questionnaire/launch/")["Location"].removeprefix("/questionnaire/")
        assert browser.get(path).page == "introduction"
        assert Browser().get(path).page == "signed-out"
        browser.through(**answers)
        assert browser.summary["name"] == "Ada"
        assert browser.submit().page == "thank-you"
        assert browser.get("summary/").page == "signed-out"


def test_cookie_is_small_enough(store_of, answers):
    store_of("cookies")
    with override_settings(QUESTIONNAIRE_STATE_BYTES=2048):
        browser = Browser().through(**{**answers, "name": "\U0001f600" * 60})
        assert len(browser.client.cookies["sessionid"].OutputString()) < 4096


@pytest.mark.parametrize("key", ["__somebody__", "x" * 1501], ids=["reserved", "too long"])
@pytest.mark.parametrize("protocol", ["gRPC", "HTTP"])
@pytest.mark.servers
def test_forged_cookie_means_logged_out(store_of, protocol, key):
    store_of(f"datastore over {protocol}")
    browser = Browser()
    browser.client.cookies["sessionid"] = key
    assert browser.get("name/").page == "signed-out"
    browser.client.cookies["sessionid"] = key
    assert browser.launch().page == "introduction"
