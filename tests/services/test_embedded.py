"""The embedded datastore as a program."""

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

from google.cloud.datastore_v1 import types
from google.rpc.status_pb2 import Status

from loadtests.services.datastore import embedded
from tests.fixtures import datastores

pytestmark = pytest.mark.servers


MINE = {name: value for name, value in os.environ.items() if name not in ("RUN_DIR", "DATASTORE_EMULATOR_HOST")}


def run(**env):
    command = [sys.executable, "-m", "loadtests.services.datastore.embedded"]
    return subprocess.run(
        command, cwd=datastores.ROOT, env={**MINE, **env}, capture_output=True, text=True, timeout=30, check=False
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = datastores.EmbeddedDatastore(tmp_path_factory.mktemp("embedded")).start()
    yield running
    running.stop()


def test_none_is_started_where_another_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as another:
        host = f"127.0.0.1:{another.getsockname()[1]}"
        ended = run(RUN_DIR=str(tmp_path), DATASTORE_EMULATOR_HOST=host)
    assert (ended.returncode, ended.stdout) == (0, f"using the datastore at {host}, starting none\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("host", ["127.0.0.1:1", "[::1]:1"])
def test_another_that_is_not_there_is_one_clear_line(host):
    ended = run(DATASTORE_EMULATOR_HOST=host)
    assert (ended.returncode, ended.stdout) == (os.EX_UNAVAILABLE, "")
    said = f"error: there is no datastore at {host} (DATASTORE_EMULATOR_HOST): "
    assert ended.stderr.startswith(said)
    assert ended.stderr.count("\n") == 1


def test_a_folder_is_needed():
    ended = run()
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: set RUN_DIR")


def test_it_listens_on_loopback_only(server):
    listening = {
        connection.laddr.ip
        for connection in psutil.Process(server.process.pid).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"}  # gRPC has a socket of IPv6 for it


def test_one_that_is_started_again_is_where_it_was(tmp_path):
    addresses = []
    for _ in range(2):
        running = datastores.EmbeddedDatastore(tmp_path).start()
        addresses.append([running.address(protocol) for protocol in ("grpc", "http")])
        running.stop()
    assert addresses[0] == addresses[1]


def test_where_its_place_is_taken_it_goes_elsewhere(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        taken = [f"127.0.0.1:{listener.getsockname()[1]}" for listener in (one, two)]
        (tmp_path / "datastore.grpc").write_text(taken[0])
        (tmp_path / "datastore.http").write_text(taken[1])
        command = [sys.executable, "-m", "loadtests.services.datastore.embedded"]
        process = subprocess.Popen(command, cwd=datastores.ROOT, env={**MINE, "RUN_DIR": str(tmp_path)})
        try:
            while (tmp_path / "datastore.http").read_text() == taken[1]:
                assert process.poll() is None
            assert (tmp_path / "datastore.grpc").read_text() != taken[0]
        finally:
            process.terminate()
            process.wait(10)


def lookup(server, name):
    """The entity of a name, asked over HTTP; None where there is none."""
    request = types.LookupRequest(project_id="p", keys=[key(name)])
    found = types.LookupResponse.deserialize(ask(server, "lookup", types.LookupRequest.serialize(request))).found
    return found[0] if found else None


def commit(server, *entities):
    mode = types.CommitRequest.Mode.NON_TRANSACTIONAL
    mutations = [types.Mutation(upsert=entity) for entity in entities]
    request = types.CommitRequest(project_id="p", mode=mode, mutations=mutations)
    return types.CommitResponse.deserialize(ask(server, "commit", types.CommitRequest.serialize(request)))


def ask(server, method, body):
    request = urllib.request.Request(f"http://{server.address('http')}/v1/projects/p:{method}", data=body)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


def key(name):
    partition = types.PartitionId(project_id="p")
    return types.Key(partition_id=partition, path=[types.Key.PathElement(kind="k", name=name)])


def entity(name, size=1):
    value = types.Value(string_value="x" * size, exclude_from_indexes=True)
    return types.Entity(key=key(name), properties={"text": value})


def test_what_is_in_sqlite_outlives_the_process(tmp_path):
    running = datastores.EmbeddedDatastore(tmp_path, DATA="sqlite").start()
    try:
        first = commit(running, entity("a")).mutation_results[0].version
        running.kill()
        running.start()
        assert (lookup(running, "a").version, lookup(running, "a").entity) == (first, entity("a"))
        assert commit(running, entity("a", size=2)).mutation_results[0].version > first
        running.reset()
        assert lookup(running, "a") is None
    finally:
        running.stop()


def test_one_that_is_full_says_so_and_writes_all_of_a_commit_or_nothing(tmp_path):
    running = datastores.EmbeddedDatastore(tmp_path, DATA="sqlite", MOST_MB=1).start()
    try:
        commit(running, entity("before", 100_000))
        with pytest.raises(urllib.error.HTTPError) as refused:
            commit(running, entity("small"), entity("large", 1_000_000))
        with refused.value as answer:
            status = Status.FromString(answer.read())
            assert (answer.code, status.code, status.message) == (429, 8, "database or disk is full")
        assert lookup(running, "small") is lookup(running, "large") is None
        commit(running, entity("small"))
        assert lookup(running, "small").entity == entity("small")
    finally:
        running.stop()


def test_a_file_that_is_none_of_sqlite_is_one_clear_line(tmp_path):
    file = tmp_path / "datastore.sqlite3"
    file.write_text("a poem\n" * 1000)
    ended = run(RUN_DIR=str(tmp_path), DATASTORE_DATA="sqlite")
    assert (ended.returncode, ended.stderr) == (1, f"error: DATASTORE_DATA=sqlite: {file}: file is not a database\n")


def test_data_can_be_in_memory_or_in_sqlite(tmp_path):
    ended = run(RUN_DIR=str(tmp_path), DATASTORE_DATA="disk")
    assert (ended.returncode, ended.stderr) == (1, "error: DATASTORE_DATA is 'disk'; memory or sqlite is needed\n")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/v1/projects/p:lookup", b"\xff", 400, 3),
        ("POST", "/v1/projects/p:allocateIds", b"", 501, 12),
        ("POST", "/v1/other", b"", 501, 12),
        ("GET", "/v1/projects/p:lookup", None, 501, 12),
    ],
)
def test_what_it_does_not_know_it_refuses(server, method, path, body, status, code):
    request = urllib.request.Request(f"http://{server.address('http')}{path}", data=body, method=method)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)
    with refused.value as answer:
        assert (answer.code, Status.FromString(answer.read()).code) == (status, code)


def test_an_answer_does_not_wait_for_an_acknowledgement():
    """Nagle's algorithm and delayed acknowledgements make 40 ms of an answer that is sent in two pieces."""

    async def ask():
        accepted = asyncio.get_running_loop().create_future()
        with embedded._listener(0) as listener:
            server = await asyncio.start_server(lambda reader, writer: accepted.set_result(writer), sock=listener)
            _, client = await asyncio.open_connection(*listener.getsockname())
            writer = await accepted
            set_so = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for one in (client, writer):
                one.close()
                await one.wait_closed()
            server.close()
            await server.wait_closed()
            return set_so

    assert asyncio.run(ask())


@pytest.mark.parametrize(
    "header", [("Origin", "http://evil.example"), ("Sec-Fetch-Site", "cross-site"), ("Host", "evil.example")]
)
@pytest.mark.parametrize("path", ["/reset", "/v1/projects/p:commit"])
def test_a_web_page_is_refused(server, path, header):
    request = urllib.request.Request(f"http://{server.address('http')}{path}", data=b"", headers=dict([header]))
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)
    with refused.value as answer:
        assert (answer.code, answer.read()) == (403, b"web pages are not answered\n")
