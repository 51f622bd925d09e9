"""Fronts and workers as processes, on both layers."""

import contextlib
import hashlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytestmark = pytest.mark.servers

ROOT = Path(__file__).resolve().parent.parent.parent
SITE = Path(__file__).resolve().parent / "site"


class Relay:
    """Fronts and workers over one layer, in a directory of their own."""

    def __init__(self, layer, directory):
        self.directory = Path(directory)
        self.ports = []
        self.workers = []
        self._processes = []
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(SITE),
            "DJANGO_SETTINGS_MODULE": f"site_{layer}",
            "RUN_DIR": str(directory),
            "IPC_DIR": str(self.directory / "ipc"),
            "RELAY_NOTES": str(directory),
        }
        self._environment.pop("REDIS_URL", None)
        if layer == "redis":
            self._start("sh", str(ROOT / "supervisor" / "redis.sh"))

    def _start(self, *command, **kwargs):
        with open(self.directory / "log", "a") as log:
            process = subprocess.Popen(
                command, cwd=ROOT / "testproject", env=self._environment, stdout=log, stderr=log, **kwargs
            )
        self._processes.append(process)
        return process

    def start_front(self):
        """Daphne on a free port, which the test binds."""
        with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
            fd = listener.fileno()
            application = "testproject.asgi_relay:application"
            self._start(sys.executable, "-m", "daphne", "-v", "0", "--fd", str(fd), application, pass_fds=[fd])
            self.ports.append(listener.getsockname()[1])

    def start_worker(self):
        worker = self._start(sys.executable, "manage.py", "runrelayworker")
        self.workers.append(worker)
        return worker

    def connect(self, front=0, timeout=20):
        return contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.ports[front], timeout=timeout))

    def ask(self, path, body=None, front=0):
        """Status and body of an answer."""
        with self.connect(front) as connection:
            connection.request("POST" if body is not None else "GET", path, body)
            response = connection.getresponse()
            return response.status, response.read()

    def wait_until_served(self):
        """Until every front answers, and every worker has: each is given a request to hold."""
        for front in range(len(self.ports)):
            assert self.ask("/healthz", front=front)[0] == 200
        running = {worker.pid for worker in self.workers if worker.poll() is None}
        with ThreadPoolExecutor(len(running)) as pool:
            holds = [pool.submit(self.ask, "/hold?warm-up") for _ in running]
            wait_for(lambda: {pid for pid, ids in self.notes().items() if ids[-1] == "warm-up"} >= running)
            self.release()
            assert {hold.result() for hold in holds} == {(200, str(pid).encode()) for pid in running}
        (self.directory / "release").unlink()

    def notes(self):
        """The ids handled, by worker's process id."""
        return {
            int(path.name.removeprefix("handled-")): path.read_text().split()
            for path in self.directory.glob("handled-*")
        }

    def release(self):
        (self.directory / "release").touch()

    def stop(self):
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(condition, timeout=20):
    give_up = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.02)


@pytest.fixture(params=["redis", "ipc"])
def relay(request):
    """A function that starts so many fronts and workers, and returns them once they serve."""
    # The path of a Unix socket has 107 bytes; pytest's temporary directories can be longer.
    directory = tempfile.mkdtemp(prefix="relay-")
    relays = []

    def start(fronts=1, workers=1):
        relay = Relay(request.param, directory)
        relays.append(relay)
        for _ in range(workers):
            relay.start_worker()
        for _ in range(fronts):
            relay.start_front()
        relay.wait_until_served()
        return relay

    try:
        yield start
    finally:
        for relay in relays:
            relay.stop()
        print((Path(directory) / "log").read_text())  # pytest shows it when the test fails
        shutil.rmtree(directory)


def test_5000_requests_are_handled_once_each_by_4_workers_behind_2_fronts(relay):
    served = relay(fronts=2, workers=4)

    def ask_500(number):
        """500 requests over one connection; returns the statuses."""
        statuses = Counter()
        with served.connect(front=number % 2) as connection:
            for count in range(500):
                connection.request("GET", f"/handled?{number}-{count}")
                response = connection.getresponse()
                response.read()
                statuses[response.status] += 1
        return statuses

    with ThreadPoolExecutor(10) as pool:
        statuses = sum(pool.map(ask_500, range(10)), Counter())
    assert statuses == {200: 5000}

    handled = Counter(id for ids in served.notes().values() for id in ids if id != "warm-up")
    assert len(handled) == 5000
    assert set(handled.values()) == {1}


def test_4_mb_go_through_and_back(relay):
    served = relay()
    body = os.urandom(4 * 1024 * 1024)
    status, answer = served.ask("/echo", body)
    assert (status, hashlib.sha256(answer).digest()) == (200, hashlib.sha256(body).digest())
    assert served.ask("/echo", body + b"x")[0] == 413


def test_a_long_stream_arrives_in_order(relay):
    served = relay()
    # 700 KB: each chunk is more than a message.
    status, answer = served.ask("/stream/?chunks=20&size=700000")
    assert status == 200
    assert answer == b"".join(b"%d" % (number % 10) * 700_000 for number in range(20))


def test_sigkill_of_a_worker_costs_its_request_alone(relay):
    served = relay(workers=2)
    with served.connect() as connection:
        connection.request("GET", "/hold?doomed")
        wait_for(lambda: any("doomed" in ids for ids in served.notes().values()))
        (victim,) = [worker for worker, ids in served.notes().items() if "doomed" in ids]
        os.kill(victim, signal.SIGKILL)
        others = {served.ask(f"/handled?other-{number}") for number in range(50)}
        assert {status for status, _ in others} == {200}
        assert str(victim).encode() not in {body for _, body in others}
        assert connection.getresponse().status == 504

    served.start_worker()
    served.wait_until_served()


def test_sigterm_lets_a_worker_finish(relay):
    served = relay()
    (worker,) = served.workers
    with served.connect() as connection:
        connection.request("GET", "/hold?last")
        wait_for(lambda: "last" in served.notes()[worker.pid])
        worker.terminate()
        served.release()
        assert connection.getresponse().status == 200
    assert worker.wait(10) == 0


def test_sigterm_ends_an_idle_worker(relay):
    (worker,) = relay().workers
    worker.terminate()
    assert worker.wait(10) == 0


def test_queued_work_of_a_client_that_left_is_not_begun(relay):
    served = relay()
    (worker,) = served.workers
    with served.connect() as held:
        held.request("GET", "/hold?first")
        wait_for(lambda: "first" in served.notes()[worker.pid])
        with served.connect() as leaver:
            leaver.request("GET", "/handled?left")
            time.sleep(0.5)  # until it is queued; were it not yet, the test would pass all the more
        time.sleep(0.5)  # until the worker has heard
        served.release()
        assert held.getresponse().status == 200
    assert served.ask("/handled?later")[0] == 200
    assert "left" not in served.notes()[worker.pid]
