"""Test that ``manage.py check`` reports the code of a project that still causes hops."""

import functools
import io
import logging

import pytest
from django.core.management import call_command
from django.db import connections
from django.dispatch import Signal
from django.test import override_settings
from hopless.checks import WRAPPED_RECEIVERS, hops, log_missing_health_checks

from tests.project.settings import SEVEN


def texts(**settings):
    with override_settings(**settings):
        return [f"{one.id}: {one.msg}" for one in hops()]


def test_default_project_has_no_messages():
    assert texts() == []


MIXED = "tests.project.middleware.Mixed is not part of Django: process_request, process_view and process_response"
FOUND = [
    ({"MIDDLEWARE": [*SEVEN, "tests.project.middleware.Mixed"]}, f"hopless.I002: {MIXED} run in a thread."),
    (
        {"MIDDLEWARE": [*SEVEN, "tests.project.middleware.synchronous"]},
        "hopless.I001: tests.project.middleware.synchronous is synchronous: it runs in a thread, and Django changes "
        "threads before and after it.",
    ),
    (
        {"SESSION_ENGINE": "shop.sessions"},
        "hopless.I003: SESSION_ENGINE is not one of Django's engines (shop.sessions): sessions are created and saved "
        "in a thread.",
    ),
    ({"CSRF_USE_SESSIONS": True}, "hopless.I003: CSRF_USE_SESSIONS is set: each request reads a session in a thread."),
    (
        {"ALLOWED_HOSTS": type("HostsOfTheDatabase", (list,), {})()},
        "hopless.W002: ALLOWED_HOSTS is not a list: if it queries a database, it blocks the event loop.",
    ),
]


@pytest.mark.parametrize(("settings", "text"), FOUND)
def test_code_that_hops_is_reported(settings, text):
    assert texts(**settings) == [text]


@pytest.mark.parametrize(("engine", "age", "health", "warned"), [
    ("postgresql", 600, False, True), ("postgresql", None, False, True), ("postgresql", 600, True, False),
    ("postgresql", 0, False, False), ("sqlite3", 600, False, False),
])  # fmt: skip
def test_missing_health_checks_are_reported(monkeypatch, caplog, engine, age, health, warned):
    database = {"ENGINE": f"django.db.backends.{engine}", "CONN_MAX_AGE": age, "CONN_HEALTH_CHECKS": health}
    monkeypatch.setattr(connections, "_settings", {"default": database})
    monkeypatch.setitem(connections.__dict__, "settings", {"default": database})
    assert [text.partition(":")[0] for text in texts()] == ["hopless.W003"] * warned
    with caplog.at_level(logging.WARNING, "hopless"):
        log_missing_health_checks()
    assert ("CONN_HEALTH_CHECKS" in caplog.text) is warned


def test_middleware_of_hopless_is_not_reported():
    assert texts(MIDDLEWARE=["hopless.middleware.SecurityMiddleware", "tests.project.middleware.Asynchronous"]) == []


def test_third_party_receiver_is_reported():
    from django.core.signals import request_started

    def counts_requests(**_):
        """A receiver in the project."""

    request_started.connect(counts_requests)
    try:
        [found] = texts()
    finally:
        request_started.disconnect(counts_requests)
    assert "request_started has receivers that are not Django's own (" in found
    assert "counts_requests" in found


def test_wrapped_receivers_have_a_hint(monkeypatch):
    """Wrap all receivers, like sentry-sdk does if it records their spans."""
    original = Signal._live_receivers

    def wrap(receiver):
        return functools.wraps(receiver)(lambda **kwargs: receiver(**kwargs))

    def live_receivers(self, sender):
        synchronous, asynchronous = original(self, sender)
        return [wrap(receiver) for receiver in synchronous], asynchronous

    monkeypatch.setattr(Signal, "_live_receivers", live_receivers)
    assert [message.hint for message in hops()] == [WRAPPED_RECEIVERS] * 2


def test_check_command_prints_messages():
    printed = io.StringIO()
    with override_settings(MIDDLEWARE=["tests.project.middleware.Mixed"]):
        call_command("check", "--tag", "hopless", stdout=printed, stderr=printed)
    assert "hopless.I002" in printed.getvalue()
