"""Test that APPLICATION=bare serves an application without Django."""

import urllib.request

import pytest

from tests.fixtures.served import served


@pytest.mark.servers
@pytest.mark.parametrize("setup", ["gunicorn", "uvicorn"])
def test_unknown_path_is_answered_without_django(setup, own_database):
    with served(setup, APPLICATION="bare") as running:
        host, port = running.address
        with urllib.request.urlopen(f"http://{host}:{port}/unknown", timeout=10) as answer:
            assert (answer.status, answer.read()) == (200, b"OK")
