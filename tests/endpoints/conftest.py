import os

import django
import pytest
from django.test import AsyncClient, Client, override_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
django.setup()


@pytest.fixture(autouse=True)
def host_of_the_test_client():
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        yield


@pytest.fixture
def wsgi() -> Client:
    """A client of Django's WSGI handler, which gets answers where tests would see exceptions."""
    return Client(raise_request_exception=False)


@pytest.fixture
def asgi() -> AsyncClient:
    """The same for the ASGI handler."""
    return AsyncClient(raise_request_exception=False)
