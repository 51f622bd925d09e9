"""Test TLS and HTTP/2: the counted handshakes and requests match the counts of a server that uses Node's modules."""

import dataclasses
import json
import subprocess
from pathlib import Path

import pytest

from loadtests.engines import get, node
from loadtests.measure.url import nothing_ok
from loadtests.workload import Load, Request
from tests.fixtures.exhaustive import exhaustive_but

pytestmark = pytest.mark.servers

PROTOCOLS = ["http", pytest.param("http2", marks=pytest.mark.exhaustive)]

SERVER = Path(__file__).parents[1] / "fixtures" / "tls_server.js"
EACH = 60


def certificate(folder):
    """Create a certificate for 127.0.0.1 and its key, and return their files."""
    folder.mkdir()
    cert, key = folder / "tls.crt", folder / "tls.key"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost"
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert]
    subprocess.run([*command.split(), *more], check=True, capture_output=True)
    return cert, key


@pytest.fixture
def loaded(tmp_path):
    """Return a function that runs a load against the TLS server and returns the result and the server's counts.

    The returned function has three attributes: the server's origin, a function that returns the counts, and the file of
    the certificate.
    """
    cert, key = certificate(tmp_path / "server")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([node.require(), SERVER, cert, key], **pipes) as server:
        origin = f"https://127.0.0.1:{server.stdout.readline().strip()}"

        def counts():
            server.stdin.write("\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())

        def run(closes=False, **options):
            request = Request("GET /", closes=closes)
            fields = {"rate": EACH, "duration_s": 1, "ca": cert.read_text(), **options}
            result = get("openloop").run(Load(origin, (request,), (b"OK",), **fields))
            return result, counts()

        run.origin, run.counts, run.certificate = origin, counts, cert
        yield run
        server.kill()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("resumption", exhaustive_but((True,), [False, True]))
def test_new_connections_resume_sessions_if_allowed(loaded, protocol, resumption):
    result, counts = loaded(closes=True, protocol=protocol, resumption=resumption)
    assert (result.planned, result.ok, result.errors) == (EACH, EACH, {})
    assert counts == {**dataclasses.asdict(result.handshakes), "requests": EACH}
    assert result.handshakes.full + result.handshakes.resumed == EACH
    if resumption:
        assert result.handshakes.resumed > EACH / 2  # some connections open before the first session can be resumed
    else:
        assert result.handshakes.resumed == 0


@pytest.mark.parametrize(
    ("protocol", "options"), [("http", {"connections": 1}), pytest.param("http2", {}, marks=pytest.mark.exhaustive)]
)
def test_shared_connection_has_one_handshake(loaded, protocol, options):
    result, counts = loaded(protocol=protocol, **options)
    assert (result.ok, result.errors, dataclasses.asdict(result.handshakes)) == (EACH, {}, {"full": 1, "resumed": 0})
    assert counts == {"full": 1, "resumed": 0, "requests": EACH}
    result, counts = loaded(protocol=protocol, warmup_s=0.3, **options)
    assert (counts["full"], result.handshakes.full) == (2, 0)  # the second handshake was in the warm-up
    assert result.ok == EACH < counts["requests"] - EACH


@pytest.mark.exhaustive
def test_environment_variable_adds_a_certificate(loaded, monkeypatch):
    named = {"rate": 20, "duration_s": 0.5, "ca": None}
    result, _ = loaded(**named)
    assert "NODE_EXTRA_CA_CERTS" in nothing_ok(Load.of_url(f"{loaded.origin}/"), result)
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(loaded.certificate))
    result, _ = loaded(**named)
    assert (result.ok, result.errors) == (10, {})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_untrusted_certificate_gets_no_request(loaded, tmp_path, protocol):
    other, _ = certificate(tmp_path / "other")
    result, counts = loaded(ca=other.read_text(), protocol=protocol)
    assert (result.ok, counts["requests"]) == (0, 0)
    assert result.errors == {"other": EACH}
    assert result.examples["other"].splitlines() == ["self-signed certificate"]
