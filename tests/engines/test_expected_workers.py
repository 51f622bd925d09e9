"""Test workers that users start themselves: how they join a run, and what happens if a worker or the master dies."""

import contextlib
import json
import re
import signal
import socket
import subprocess
import sys

import psutil
import pytest

from loadtests.engines import cluster, load_token, node
from loadtests.files import ROOT
from tests.fixtures.other_machine import running, trials
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive, pytest.mark.timeout(300)]

STUDY = """
title = "One setup, asked by workers"
setups = ["gunicorn"]
blocks = 1
interleave = {interleave}
[tests.latency]
rate = 100
duration = "{duration}"
warmup = "100ms"
"""
MORE = """
[tests.closed]
kind = "throughput"
connections = 4
duration = "1s"
warmup = "100ms"
[tests.users]
kind = "journey"
users = 4
think = ["10ms", "30ms"]
warmup = "500ms"
duration = "2s"
"""
# Runs `python -m loadtests` as if one of its files was different.
CHANGED = """
from loadtests.cli import main
from loadtests.hosts import deploy
digests = deploy.digests
deploy.digests = lambda root, paths: {**digests(root, paths), "loadtests/cli.py": "another"}
main()
"""
TOKEN = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
WORKERS_TOKEN = load_token.of_workers(TOKEN)
# Connects like a worker, with the correct key of the master but a random key instead of the workers' key.
IMPOSTOR = """
import sys, zmq
from zmq.utils import z85
context = zmq.Context()
socket = context.socket(zmq.DEALER)
socket.curve_serverkey = z85.encode(bytes.fromhex(sys.argv[2])[:32])
socket.curve_publickey, socket.curve_secretkey = zmq.curve_keypair()
monitor = socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_HANDSHAKE_FAILED_AUTH)
socket.connect(f"tcp://127.0.0.1:{sys.argv[1]}")
event, status = __import__("struct").unpack("=hi", monitor.recv_multipart()[0])
print(event == zmq.EVENT_HANDSHAKE_FAILED_AUTH, status)
"""
WITHIN_S = 120
TOO_LONG_S = 40  # a run waits this long because workers start slowly on a busy machine


@pytest.fixture
def token_file(tmp_path):
    """Return a function that writes a token to a file and returns the file's path."""

    def token_file(token):
        (file := tmp_path / token[:8]).write_text(f"{token}\n")
        return str(file)

    return token_file


@pytest.fixture
def expecting(cli, free_port, tmp_path, token_file):
    """Return a function that starts a run with two expected workers. The run's folder is ``run``."""

    def expecting(duration="2s", interleave="true", more="", wait=f"{WITHIN_S}s"):
        study = tmp_path / "study.toml"
        study.write_text(STUDY.format(duration=duration, interleave=interleave) + more)
        cli.env["LOAD_TOKEN_FILE"] = token_file(TOKEN)
        where = ("--expect-workers", 2, "--master-bind", f"127.0.0.1:{free_port}", "--expect-workers-max-wait", wait)
        return cli.start("run", study, *where, "--output", tmp_path / "run", "--ignore-busy")

    yield expecting
    cli.wait_until_nothing_runs()


@pytest.fixture
def worker(cli, free_port, token_file):
    """Return a function that starts a worker with a token."""

    def worker(token=WORKERS_TOKEN):
        cli.env["LOAD_TOKEN_FILE"] = token_file(token)
        return cli.start("worker", f"127.0.0.1:{free_port}")

    return worker


@pytest.fixture
def under_way(cli, expecting, worker):
    """Return a function that starts a run and its two workers and returns the three processes.

    The run isn't interleaved. The function returns when the load has started.
    """

    def under_way():
        found = expecting(duration="60s", interleave="false"), worker(), worker()
        wait_for(lambda: len(makes_load(cli)) == 2, "no load", WITHIN_S)
        return found

    return under_way


def end_of(process, within_s=WITHIN_S):
    """Wait for a process, and return its exit code and errors."""
    _, errors = process.communicate(timeout=within_s)
    return process.returncode, errors


def makes_load(cli):
    """Return the processes of the load generators that are running."""
    return running(cli, str(node.GENERATOR / "main.js"))


def test_workers_share_the_load(cli, expecting, worker, tmp_path):
    run, workers = expecting(more=MORE), [worker(), worker()]
    _, errors = end_of(run, 2 * WITHIN_S)
    for one in workers:
        code, printed = end_of(one)
        assert (code, printed.splitlines()[-1]) == (0, "the run has ended")
    found = {trial["test"]: trial["result"] for trial in trials(tmp_path / "run")}
    assert found["latency"]["planned"] >= 200, errors  # more than 200 if the server's pauses make slices longer
    for result in found.values():
        assert result["ok"] == result["planned"] > 0
        assert all(part["planned"] for part in result["generator"])
        assert sum(part["planned"] for part in result["generator"]) == result["planned"]
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["workers"]["count"] == len(record["clients"]) == 2
    for token in (TOKEN, WORKERS_TOKEN):
        assert token not in errors
        assert not [
            file for file in (tmp_path / "run").rglob("*") if file.is_file() and token.encode() in file.read_bytes()
        ]


def test_only_master_and_server_listen(cli, under_way, free_port):
    run, *workers = under_way()
    expected = {("127.0.0.1", free_port), ("127.0.0.1", int(cli.env["PORT"]))}

    def found():
        """Return the listening addresses, and check that no process shows a token."""
        sockets = psutil.net_connections("tcp")
        listening = {one.laddr for one in sockets if one.status == psutil.CONN_LISTEN and one.laddr.port == free_port}
        for process in cli.processes():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):  # ended, or only root may inspect it
                seen = " ".join([*process.cmdline(), *process.environ().values()])
                assert TOKEN not in seen
                assert WORKERS_TOKEN not in seen
                listening |= {one.laddr for one in process.net_connections("tcp") if one.status == psutil.CONN_LISTEN}
        return listening

    wait_for(lambda: found() == expected, "unexpected listening sockets")  # the self-test listens only for a short time
    impostor = [sys.executable, "-c", IMPOSTOR, str(free_port), WORKERS_TOKEN]
    assert subprocess.check_output(impostor, text=True) == "True 400\n"
    run.send_signal(signal.SIGINT)
    assert end_of(run)[0] == 130
    assert [end_of(one)[0] for one in workers] == [0, 0]


def test_missing_workers_end_the_run(cli, expecting, worker, free_port, tmp_path, token_file):
    run = expecting(wait=f"{TOO_LONG_S}s")
    wait_for(lambda: running(cli, cluster.MASTER), "no master")
    good, stranger = worker(), worker(load_token.of_workers(load_token.drawn()))
    changed = [sys.executable, "-c", CHANGED, "worker", f"127.0.0.1:{free_port}"]
    environment = {**cli.env, "LOAD_TOKEN_FILE": token_file(WORKERS_TOKEN)}
    done = subprocess.run(changed, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    differs = "files differ from this machine's: loadtests/cli.py. Check out the same revision."
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, differs)
    code, errors = end_of(run)
    assert code == 1
    only = (
        rf"error: only 1 of 2 workers connected within {TOO_LONG_S} s; worker \d \({socket.gethostname()}\): {differs}"
    )
    assert re.fullmatch(only, errors.splitlines()[-1])
    assert end_of(good)[0] == 0
    assert not (tmp_path / "run").exists()
    stranger.send_signal(signal.SIGINT)
    code, errors = end_of(stranger)
    assert (code, errors.splitlines()[1:]) == (130, ["error: interrupted"])  # without the token, it isn't connected


def test_lost_worker_ends_the_run(cli, under_way, tmp_path):
    run, lost, other = under_way()
    lost.send_signal(signal.SIGTERM)
    code, errors = end_of(lost)
    assert (code, errors.splitlines()[-1]) == (130, "error: interrupted")
    code, errors = end_of(run)
    assert code == 1
    assert re.search(
        r"error: worker \d \(.*\) was lost. Restart the workers and continue the run with --resume", errors
    )
    assert [(one["status"], "lost the connection" in one["log"]) for one in trials(tmp_path / "run")] == [
        ("invalid", True)
    ]
    assert end_of(other)[0] == 0


def test_killed_master_ends_run_and_workers(cli, under_way):
    run, *workers = under_way()
    running(cli, cluster.MASTER)[0].kill()
    code, errors = end_of(run)
    assert code == 1
    assert "the Locust master was lost. Restart the workers" in errors
    for one in workers:
        code, errors = end_of(one)
        assert (code, errors.splitlines()[-1]) == (1, "lost the connection to the master")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--expect-workers", "0"], "--expect-workers"),
        (["--master-bind", "127.0.0.1"], "--master-bind only works with --expect-workers"),
        (["--expect-workers", "2", "--master-bind", "here:port"], "--master-bind here:port: must be an IPv4 address"),
        (["--expect-workers", "2", "--servers", "ssh://a", "--clients", "ssh://b"], "Leave out the clients"),
        (
            ["--expect-workers", "2", "--master-bind", "192.0.2.1"],
            "Cannot assign requested address (addr='tcp://192.0.2.1:5557')",
        ),
    ],
)
def test_invalid_options_are_refused(command, options, says):
    code, _, errors = command("run", "first-look", *options)
    assert code == 1
    assert says in errors


@pytest.mark.parametrize("token", ["", TOKEN[:31], WORKERS_TOKEN])
def test_weak_run_token_is_refused(command, monkeypatch, token_file, token):
    monkeypatch.setenv("LOAD_TOKEN_FILE", token_file(token or "\n"))
    assert "the run's token must be 32 to 64 random hexadecimal digits" in command("token")[2]


def test_worker_refuses_token_of_run(command, monkeypatch, token_file):
    monkeypatch.setenv("LOAD_TOKEN_FILE", token_file(TOKEN))
    assert "the workers' token must have 128 hexadecimal digits" in command("worker", "127.0.0.1:1")[2]


def test_workers_token_hides_key_of_master(cli):
    command = [sys.executable, "-m", "loadtests", "token"]
    done = subprocess.run(command, cwd=ROOT, env=cli.env, input=TOKEN, capture_output=True, text=True, check=True)
    assert done.stdout == f"{WORKERS_TOKEN}\n"
    assert load_token.key(TOKEN, load_token.MASTER).hex() not in WORKERS_TOKEN
