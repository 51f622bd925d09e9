"""Where Django lacks something that is needed, its own application serves, and that is said once."""

from unittest import mock

from django.core.asgi import ASGIHandler
from django.dispatch import Signal
from hopless import get_asgi_application, private
from hopless.checks import hops


def test_nothing_is_missing_in_this_version():
    assert private.missing() == []


def test_django_s_own_serves_where_a_private_name_is_gone(caplog):
    with mock.patch.object(Signal, "_live_receivers", new=None):
        del Signal._live_receivers
        app = get_asgi_application()
        [check] = hops()
        Signal._live_receivers = None  # for mock to put back
    assert type(app) is ASGIHandler
    assert [record.getMessage().partition(" lacks ")[2] for record in caplog.records] == [
        "Signal._live_receivers: this is Django's own ASGI application"
    ]
    assert check.id == "hopless.W001"
