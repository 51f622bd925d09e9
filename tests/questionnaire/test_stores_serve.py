"""A journey through each store of sessions."""

import pytest
from django.test import override_settings

from tests.fixtures.exhaustive import COMMON_STORES, exhaustive_but
from tests.questionnaire.browser import Browser

STORES = (
    "db",
    "cached_db",
    pytest.param("redis", marks=pytest.mark.servers),
    "file",
    "cookies",
    pytest.param("datastore over gRPC", marks=pytest.mark.servers),
    pytest.param("datastore over HTTP", marks=pytest.mark.servers),
)


@pytest.mark.parametrize("name", exhaustive_but(COMMON_STORES, STORES))
def test_a_whole_journey_with_a_token_for_one_use(base, store_of, name, answers):
    store_of(name)
    with override_settings(QUESTIONNAIRE_STATE_BYTES=2048 if name == "cookies" else 8192):
        browser = Browser(base)
        path = browser.client.get(base + "launch/")["Location"].removeprefix(base)
        assert browser.get(path).page == "introduction"
        assert Browser(base).get(path).page == "signed-out"
        browser.through(**answers)
        assert browser.summary["name"] == "Ada"
        assert browser.submit().page == "thank-you"
        assert browser.get("summary/").page == "signed-out"


def test_a_cookie_is_one_that_browsers_keep(base, store_of, answers):
    store_of("cookies")
    with override_settings(QUESTIONNAIRE_STATE_BYTES=2048):
        browser = Browser(base).through(**{**answers, "name": "\U0001f600" * 60})
        assert len(browser.client.cookies["sessionid"].OutputString()) < 4096


@pytest.mark.parametrize("key", ["__somebody__", "x" * 1501], ids=["reserved", "too long"])
@pytest.mark.parametrize("protocol", ["gRPC", "HTTP"])
@pytest.mark.servers
def test_a_cookie_that_is_no_key_of_the_datastore_is_no_session(base, store_of, protocol, key):
    store_of(f"datastore over {protocol}")
    browser = Browser(base)
    browser.client.cookies["sessionid"] = key
    assert browser.get("name/").page == "signed-out"
    browser.client.cookies["sessionid"] = key
    assert browser.launch().page == "introduction"
