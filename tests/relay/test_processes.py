"""Fronts and workers as processes, on both layers."""

import contextlib
import http.client
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.waiting import wait_for

pytestmark = pytest.mark.servers

ROOT = Path(__file__).resolve().parent.parent.parent
SITE = Path(__file__).resolve().parent / "site"


class Relay:
    """Fronts and workers over one layer, in a directory of their own."""

    def __init__(self, layer, directory):
        self.directory = Path(directory)
        self.workers = []
        self._layer = layer
        self._ports = []
        self._processes = []
        self._known_to_serve = set()
        self._numbers = itertools.count(1)
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
            wait_for((self.directory / "redis.sock").exists)

    def _start(self, *command, timeout=30, **kwargs):
        environment = {**self._environment, "RELAY_TIMEOUT": str(timeout)}
        with open(self.directory / "log", "a") as log:
            process = subprocess.Popen(
                command, cwd=ROOT / "testproject", env=environment, stdout=log, stderr=log, **kwargs
            )
        self._processes.append(process)
        return process

    def start_front(self, timeout=30):
        """Daphne on a free port, which the test binds, and its patience in seconds; returns the front's number."""
        with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
            fd = listener.fileno()
            daphne = [sys.executable, "-m", "daphne", "-v", "0", "--fd", str(fd), "testproject.asgi_relay:application"]
            self._start(*daphne, timeout=timeout, pass_fds=[fd])
            self._ports.append(listener.getsockname()[1])
        return len(self._ports) - 1

    def have_workers(self, count):
        """At least that many workers run, and each of them has answered a request."""
        while len(self.workers) < count:
            self.workers.append(self._start(sys.executable, "manage.py", "runrelayworker"))
        if not {worker.pid for worker in self.workers} <= self._known_to_serve:
            with self.all_workers_busy():
                pass

    @contextlib.contextmanager
    def all_workers_busy(self):
        """Each worker has a request in its hands, and answers it when the context ends."""
        pids = {worker.pid for worker in self.workers}
        ids = [f"busy-{next(self._numbers)}" for _ in pids]
        with ThreadPoolExecutor(len(ids)) as pool:
            holds = [pool.submit(self.ask, f"/hold?{id}") for id in ids]
            try:
                wait_for(lambda: {self.handler_of(id) for id in ids} == pids)
                yield
            finally:
                self.release(*ids)
            assert {hold.result() for hold in holds} == {(200, str(pid).encode()) for pid in pids}
        self._known_to_serve |= pids

    def end(self, pid, how):
        """Signal a worker, which is this relay's no more; returns its process."""
        (worker,) = [worker for worker in self.workers if worker.pid == pid]
        self.workers.remove(worker)
        worker.send_signal(how)
        return worker

    def connect(self, front=0, timeout=40):
        return contextlib.closing(http.client.HTTPConnection("127.0.0.1", self._ports[front], timeout=timeout))

    def ask(self, path, body=None, front=0):
        """Status and body of an answer."""
        with self.connect(front) as connection:
            connection.request("POST" if body is not None else "GET", path, body)
            response = connection.getresponse()
            return response.status, response.read()

    def handled(self):
        """The ids that were handled, and by the worker with which process id; one handled twice is there twice."""
        return [
            (id, int(notes.name.removeprefix("handled-")))
            for notes in self.directory.glob("handled-*")
            for id in notes.read_text().split()
        ]

    def handler_of(self, id):
        """The process id of the worker that handles or has handled a request; None as long as none does."""
        return dict(self.handled()).get(id)

    def release(self, *ids):
        """Let the requests `/hold?ID` be answered."""
        for id in ids:
            (self.directory / f"release-{id}").touch()

    def stop(self):
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="module", params=exhaustive_but("ipc", ["redis", "ipc"]))
def shared_relay(request):
    """Two fronts; each test says how many workers it needs, and finds those that others have left."""
    # The path of a Unix socket has 107 bytes; pytest's temporary directories can be longer.
    directory = tempfile.mkdtemp(prefix="relay-")
    relay = Relay(request.param, directory)
    try:
        relay.start_front()
        relay.start_front()
        yield relay
    finally:
        relay.stop()
        shutil.rmtree(directory)


@pytest.fixture
def relay(shared_relay):
    log = shared_relay.directory / "log"
    before = log.stat().st_size
    yield shared_relay
    print(log.read_bytes()[before:].decode())  # pytest shows it when the test fails


def test_1000_requests_are_handled_once_each_by_3_workers_behind_2_fronts(relay):
    relay.have_workers(3)

    def ask_100(number):
        """100 requests over one connection; returns the statuses."""
        statuses = Counter()
        with relay.connect(front=number % 2) as connection:
            for count in range(100):
                connection.request("GET", f"/handled?one-of-many-{number}-{count}")
                response = connection.getresponse()
                response.read()
                statuses[response.status] += 1
        return statuses

    with ThreadPoolExecutor(10) as pool:
        statuses = sum(pool.map(ask_100, range(10)), Counter())
    assert statuses == {200: 1000}

    handled = Counter(id for id, _ in relay.handled() if id.startswith("one-of-many"))
    assert len(handled) == 1000
    assert set(handled.values()) == {1}


def test_sigkill_of_a_worker_costs_its_request_alone(relay):
    relay.have_workers(2)
    impatient = relay.start_front(timeout=1)
    assert relay.ask("/healthz", front=impatient)[0] == 200
    with relay.connect(front=impatient) as connection:
        connection.request("GET", "/hold?doomed")
        wait_for(lambda: relay.handler_of("doomed"))
        victim = relay.end(relay.handler_of("doomed"), signal.SIGKILL)
        others = {relay.ask(f"/handled?other-{number}") for number in range(50)}
        assert {status for status, _ in others} == {200}
        assert str(victim.pid).encode() not in {body for _, body in others}
        assert connection.getresponse().status == 504


def test_sigterm_lets_a_worker_finish(relay):
    relay.have_workers(1)
    with relay.connect() as connection:
        connection.request("GET", "/hold?last")
        wait_for(lambda: relay.handler_of("last"))
        worker = relay.end(relay.handler_of("last"), signal.SIGTERM)
        relay.release("last")
        assert connection.getresponse().status == 200
    assert worker.wait(10) == 0
