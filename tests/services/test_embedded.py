"""Test the embedded datastore as a program."""

import asyncio
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import psutil
import pytest

pytest.importorskip("google.cloud.datastore")

from google.rpc.status_pb2 import Status

from loadtests.files import ROOT
from loadtests.services.datastore import embedded
from tests.fixtures import datastores

pytestmark = pytest.mark.servers

COMMAND = [sys.executable, "-m", "loadtests.services.datastore.embedded"]
MINE = {name: value for name, value in os.environ.items() if name not in ("RUN_DIR", "DATASTORE_EMULATOR_HOST")}


def run(**env):
    return subprocess.run(COMMAND, cwd=ROOT, env={**MINE, **env}, capture_output=True, text=True, timeout=30)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = datastores.EmbeddedDatastore(tmp_path_factory.mktemp("embedded")).start()
    yield running
    running.stop()


def test_existing_datastore_prevents_the_service(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as another:
        host = f"127.0.0.1:{another.getsockname()[1]}"
        ended = run(RUN_DIR=str(tmp_path), DATASTORE_EMULATOR_HOST=host)
    assert (ended.returncode, ended.stdout) == (0, f"using the datastore at {host} instead of starting a datastore\n")
    assert list(tmp_path.iterdir()) == []


NOT_THERE = "error: there is no datastore at {} (DATASTORE_EMULATOR_HOST): "


@pytest.mark.parametrize(
    ("env", "status", "says"),
    [
        ({"DATASTORE_EMULATOR_HOST": "127.0.0.1:1"}, os.EX_UNAVAILABLE, NOT_THERE.format("127.0.0.1:1")),
        ({"DATASTORE_EMULATOR_HOST": "[::1]:1"}, os.EX_UNAVAILABLE, NOT_THERE.format("[::1]:1")),
        ({}, 1, "error: RUN_DIR is not set"),
    ],
)
def test_impossible_start_is_clear_error(env, status, says):
    ended = run(**env)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (status, "", 1)
    assert ended.stderr.startswith(says)


def test_datastore_listens_only_on_loopback(server):
    listening = {
        connection.laddr.ip
        for connection in psutil.Process(server.process.pid).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"}  # gRPC listens on an IPv6 socket


def test_restarted_datastore_keeps_its_address(tmp_path):
    addresses = []
    for _ in range(2):
        running = datastores.EmbeddedDatastore(tmp_path).start()
        addresses.append([running.address(protocol) for protocol in ("grpc", "http")])
        running.stop()
    assert addresses[0] == addresses[1]


def answered(server, method, path, body, **headers):
    """Send a request that the datastore must refuse. Return the status and body of the answer."""
    request = urllib.request.Request(
        f"http://{server.address('http')}{path}", data=body, headers=headers, method=method
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)
    with refused.value as answer:
        return answer.code, answer.read()


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/v1/projects/p:lookup", b"\xff", 400, 3),
        ("POST", "/v1/projects/p:runQuery", b"", 501, 12),
        ("POST", "/v1/projects/p:commit", b"\x28\x01", 501, 12),  # transactional
        ("POST", "/v1/other", b"", 501, 12),
        ("GET", "/v1/projects/p:lookup", None, 501, 12),
    ],
)
def test_unknown_request_is_refused(server, method, path, body, status, code):
    found, answer = answered(server, method, path, body)
    assert (found, Status.FromString(answer).code) == (status, code)


@pytest.mark.parametrize(
    "header", [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}]
)
@pytest.mark.parametrize("path", ["/reset", "/v1/projects/p:commit"])
def test_request_from_web_page_is_refused(server, path, header):
    assert answered(server, "POST", path, b"", **header) == (403, b"requests from web pages are refused\n")


def test_answer_waits_for_no_acknowledgement():
    """Nagle's algorithm and delayed acknowledgements add 40 ms to an answer that is sent in two pieces."""

    async def set_so():
        with embedded._listener(0) as listener:
            accepted = asyncio.get_running_loop().create_future()
            server = await asyncio.start_server(lambda reader, writer: accepted.set_result(writer), sock=listener)
            _, client = await asyncio.open_connection(*listener.getsockname())
            writer = await accepted
            found = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for one in (client, writer):
                one.close()
                await one.wait_closed()
            server.close()
            await server.wait_closed()
            return found

    assert asyncio.run(set_so())
