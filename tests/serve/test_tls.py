"""Setups answer over TLS, with a certificate that only who was given it trusts."""

import http.client
import urllib.error
import urllib.request

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.serve.http import ask
from loadtests.workload import Request
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.served import served

pytestmark = pytest.mark.servers

OFFERING = [name for name, setup in setups.known().items() if "tls" in setup.offers]


@pytest.mark.parametrize("name", exhaustive_but(("gunicorn-gthread",), OFFERING))
def test_a_setup_answers_over_tls_and_not_without_its_certificate(own_database, name):
    front = Request("front")
    with served(name, TLS="1") as running:
        assert running.url.startswith("https://")
        assert running.ask(front, 5).status == 200
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(running.url)
        try:
            plain = ask(*running.address, front, 5).status
        except (OSError, http.client.HTTPException):
            plain = None
        assert plain != 200


def test_a_setup_without_tls_says_so_in_a_line():
    with pytest.raises(UserError, match="it cannot answer over TLS"), served("waitress", TLS="1"):
        pass
