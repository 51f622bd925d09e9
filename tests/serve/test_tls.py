"""Test that setups answer over TLS, with a certificate that only the harness trusts."""

import http.client
import urllib.error
import urllib.request

import pytest

from loadtests import setups
from loadtests.engines import get
from loadtests.serve.http import ask
from loadtests.workload import Load, Request
from tests.fixtures.served import served

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive]

OFFERED = {name: setup.offers for name, setup in setups.known().items()}
OFFERING = [name for name, offers in OFFERED.items() if "tls" in offers]


@pytest.mark.parametrize("name", OFFERING)
def test_setup_answers_only_with_its_certificate(own_database, name):
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


def over_http2(name, tls):
    with served(name, TLS=tls) as running:
        load = Load(running.url, (Request("front"),), rate=20, duration_s=0.5, protocol="http2", ca=running.ca)
        return get("openloop").run(load)


@pytest.mark.parametrize("name", [one for one in OFFERING if "h2" in OFFERED[one]])
def test_http2_setup_answers_http2(own_database, name):
    for tls in ("1", "") if "h2c" in OFFERED[name] else ("1",):
        result = over_http2(name, tls)
        assert (result.ok, result.errors) == (10, {})


def test_server_without_http2_is_reported(own_database):
    result = over_http2("uvicorn", "1")
    assert result.ok == 0
    assert result.examples["other"] == "the server does not speak HTTP/2"
