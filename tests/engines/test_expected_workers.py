"""Test workers that users start themselves: how they join a run, and what happens if a worker or the master dies."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from loadtests.engines import cluster, load_token, node
from loadtests.files import ROOT
from tests.fixtures.other_machine import running, trials
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive, pytest.mark.timeout(300)]

STUDY = """
title = "One setup, asked by workers"
setups = ["{setup}"]
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
# Runs `python -m loadtests`. The program sends a signal to itself when it imports a certain module.
SIGNALLED = """
import os, sys

class Finder:
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), number)

module, number = sys.argv.pop(), int(sys.argv.pop())
sys.meta_path.insert(0, Finder())
from loadtests.cli import main
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

    def expecting(duration="2s", interleave="true", more="", wait=f"{WITHIN_S}s", setup="gunicorn"):
        study = tmp_path / "study.toml"
        study.write_text(STUDY.format(setup=setup, duration=duration, interleave=interleave) + more)
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

    def under_way(duration="60s", setup="gunicorn"):
        found = expecting(duration=duration, interleave="false", setup=setup), worker(), worker()
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


def wait_for_requests(cli):
    """Wait until both workers have open connections to Uvicorn, and Uvicorn has used some CPU time."""
    port = int(cli.env["PORT"])
    wait_for(
        lambda: all(any(c.raddr and c.raddr.port == port for c in one.net_connections()) for one in makes_load(cli)),
        "no connections",
    )
    servers = [one for one in cli.processes() if "uvicorn" in " ".join(one.cmdline())]
    before = sum(one.cpu_times().user for one in servers)
    wait_for(lambda: sum(one.cpu_times().user for one in servers) > before + 0.1, "no requests")


def test_workers_share_the_load(cli, expecting, worker, tmp_path):
    run, workers = expecting(more=MORE), [worker(), worker()]
    _, errors = end_of(run, 2 * WITHIN_S)
    assert [end_of(one) for one in workers] == [
        (0, f"Connected to the run at {where}. The worker stops when the run ends.\nthe run has ended\n")
        for where in re.findall(r"loadtests worker (\S+)\n", errors) * 2
    ]
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
    know_token = [*workers, *running(cli, cluster.MASTER), *running(cli, "--expect-workers")]
    hidden = [process for process in know_token if Path(f"/proc/{process.pid}/environ").stat().st_uid == 0]
    assert len(hidden) >= 4 or sys.platform != "linux"  # only root can read the memory of these processes
    impostor = [sys.executable, "-c", IMPOSTOR, str(free_port), WORKERS_TOKEN]
    assert subprocess.check_output(impostor, text=True) == "True 400\n"
    run.send_signal(signal.SIGINT)
    assert end_of(run)[0] == 130
    assert [end_of(one)[0] for one in workers] == [0, 0]


def test_missing_workers_end_the_run(cli, expecting, worker, free_port, tmp_path, token_file):
    run = expecting(wait=f"{TOO_LONG_S}s")
    wait_for(lambda: running(cli, cluster.MASTER), "no master")
    good, stranger = worker(), worker(load_token.of_workers(load_token.drawn()))
    options = {
        "cwd": ROOT,
        "env": {**cli.env, "LOAD_TOKEN_FILE": token_file(WORKERS_TOKEN)},
        "stderr": subprocess.PIPE,
        "text": True,
    }
    changed = subprocess.Popen([sys.executable, "-c", CHANGED, "worker", f"127.0.0.1:{free_port}"], **options)
    unknown = f"error: no master answered within 10 s: 127.0.0.1:{free_port} doesn't accept this token\n"
    assert end_of(stranger) == (1, unknown)
    code, errors = end_of(changed)
    differs = r"worker \d \((.*)\): files differ from this machine's: loadtests/cli.py. Check out the same.*"
    why = re.search(differs, errors)
    assert (code, why[1]) == (1, socket.gethostname())
    code, errors = end_of(run)
    assert (code, errors.splitlines()[-1]) == (
        1,
        f"error: only 1 of 2 workers connected within {TOO_LONG_S} s; {why[0]}",
    )
    assert end_of(good)[0] == 0
    assert not (tmp_path / "run").exists()


def test_lost_worker_ends_the_run(cli, under_way, tmp_path):
    run, lost, other = under_way()
    lost.kill()
    end_of(lost)
    code, errors = end_of(run)
    assert code == 1
    assert re.search(r"error: worker \d \(.*\) was lost, and no replacement .* its machine; continue with: ", errors)
    assert [(one["status"], "lost the connection" in one["log"]) for one in trials(tmp_path / "run")] == [
        ("invalid", True)
    ]
    assert end_of(other)[0] == 0


def test_spare_worker_replaces_lost_worker(cli, under_way, worker, tmp_path):
    run, lost, other = under_way(duration="20s")
    late = worker()
    assert "Connected to the run" in late.stderr.readline()
    assert len(makes_load(cli)) == 2
    lost.kill()
    end_of(lost)
    _, errors = end_of(run, 2 * WITHIN_S)
    first, second = trials(tmp_path / "run")
    assert (first["status"], second["result"]["ok"]) == ("invalid", 2000), errors
    assert [end_of(one)[0] for one in (other, late)] == [0, 0]


def test_workers_without_master_save_measurements(cli, under_way, tmp_path):
    cli.env["XDG_CACHE_HOME"] = str(tmp_path)
    folder = tmp_path / "django-serving-benchmark" / "load-parts"
    folder.mkdir(parents=True)
    (old := folder / "old.json").touch()
    os.utime(old, (0, 0))
    run, *workers = under_way(setup="uvicorn")
    wait_for_requests(cli)
    [master] = running(cli, cluster.MASTER)
    master.kill()
    code, errors = end_of(run)
    assert code == 1
    assert "The Locust master was killed. Restart the workers and continue the run with --resume." in errors
    sent, kept_in = 0, set()
    for one in workers:
        code, errors = end_of(one)
        assert code == 1
        file = Path(re.search(r"Saved the unfinished measurements to (\S+)", errors)[1])
        kept_in.add(file)
        kept = json.loads(file.read_text())
        [result] = [event for event in kept["events"] if event["event"] == "result"]
        assert result["spreads"]["response_time"]
        sent += result["sent"]
    assert sent > 0
    assert set(folder.iterdir()) == kept_in


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--expect-workers", "0"], "--expect-workers"),
        (
            ["--master-bind", "127.0.0.1"],
            "--master-bind only works with --expect-workers. Add it with the number of workers",
        ),
        (["--expect-workers", "2", "--master-bind", "here:port"], "--master-bind here:port: must be an IPv4 address"),
        (["--expect-workers", "2", "--servers", "ssh://a", "--clients", "ssh://b"], "Leave out the clients"),
        (["--expect-workers", "2", "--master-bind", "192.0.2.1"], "--master-bind 192.0.2.1:5557: Cannot assign"),
    ],
)
def test_invalid_options_are_refused(command, options, says):
    code, _, errors = command("run", "first-look", *options)
    assert code == 1
    assert says in errors


@pytest.mark.parametrize("token", ["", "short", "a" * 32, "0123456789abcdef" * 2 + "z", TOKEN[:31], WORKERS_TOKEN])
def test_weak_run_token_is_refused(command, monkeypatch, token_file, token):
    monkeypatch.setenv("LOAD_TOKEN_FILE", token_file(token or "\n"))
    assert command("token")[2] == (
        "error: the run's token must be 32 to 64 random hexadecimal digits. Create one: openssl rand -hex 32\n"
    )


def test_worker_refuses_token_of_run(command, monkeypatch, token_file):
    monkeypatch.setenv("LOAD_TOKEN_FILE", token_file(TOKEN))
    assert "the workers' token must have 128 hexadecimal digits" in command("worker", "127.0.0.1:1")[2]


def test_token_in_environment_is_refused(refused, monkeypatch):
    monkeypatch.setenv("LOAD_TOKEN", TOKEN)
    for arguments in (["worker", "127.0.0.1:1"], ["token"]):
        assert refused(*arguments).startswith("error: other processes can read LOAD_TOKEN. Unset it, and set")


def test_workers_token_hides_key_of_master(cli):
    command = [sys.executable, "-m", "loadtests", "token"]
    done = subprocess.run(command, cwd=ROOT, env=cli.env, input=TOKEN, capture_output=True, text=True, check=True)
    assert done.stdout == f"{WORKERS_TOKEN}\n"
    assert load_token.key(TOKEN, load_token.MASTER).hex() not in WORKERS_TOKEN


def test_dry_run_does_not_wait(command):
    code, printed, errors = command("run", "first-look", "--expect-workers", "2", "--dry-run")
    assert (code, errors) == (0, "")
    assert "Nothing was started" in printed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("module", ["loadtests.engines.load_token", "gevent", "gevent.hub", "locust.runners"])
def test_signal_during_imports_ends_worker(number, module):
    command = [sys.executable, "-c", SIGNALLED, "worker", "127.0.0.1:1", str(int(number)), module]
    done = subprocess.run(command, cwd=ROOT, input=WORKERS_TOKEN, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_waiting_worker(worker, free_port, number):
    with socket.create_server(("127.0.0.1", free_port)) as listener:
        waiting = worker()
        listener.accept()[0].close()
        with listener.accept()[0]:
            waiting.send_signal(number)
            assert end_of(waiting) == (130, "error: interrupted\n")


def test_signal_ends_worker_during_load(under_way):
    run, one, other = under_way()
    one.send_signal(signal.SIGTERM)
    other.send_signal(signal.SIGINT)
    for worker in (one, other):
        code, errors = end_of(worker)
        assert (code, errors.splitlines()[1:]) == (130, ["error: interrupted"])
    assert end_of(run)[0] == 1
