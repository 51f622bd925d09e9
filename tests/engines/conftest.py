import contextlib
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

SERVER = Path(__file__).with_name("server.py")


class Server:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def count(self):
        """How many requests have come."""
        return self._number("count")

    def opened(self):
        """How many connections were opened, this one not among them."""
        return self._number("opened") - 1

    def _number(self, what):
        with urllib.request.urlopen(f"{self.url}/{what}") as response:
            return int(response.read())


@contextlib.contextmanager
def serving(*arguments):
    command = [sys.executable, str(SERVER), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Server(int(process.stdout.readline()))
        finally:
            process.kill()


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture
def freezing_server():
    with serving("freezing") as running:
        yield running


@pytest.fixture
def wait_for():
    """Waits until a function returns something true, and returns it."""

    def wait(condition, seconds=20.0):
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, "waited in vain"
            time.sleep(0.01)
        return found

    return wait


@pytest.fixture
def generators():
    """A function: the load generator processes below a process (this one if none is given)."""

    def find(pid=None):
        try:
            children = psutil.Process(pid).children()
            return [child for child in children if "main.js" in " ".join(child.cmdline())]
        except psutil.NoSuchProcess:
            return []

    return find


@pytest.fixture
def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
