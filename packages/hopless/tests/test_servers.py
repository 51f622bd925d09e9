"""Test hopless with servers that fork, reload, or have several workers or event loops."""

import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings

WITHIN_S = 30
PACKAGE = Path(__file__).parents[1]
ASGI = """
import os
from pathlib import Path

from hopless import get_asgi_application

application = get_asgi_application()
Path(__file__).with_name(f"loaded-{os.getpid()}").touch()
"""
GUNICORN = "gunicorn asgi:application --bind 127.0.0.1:{port} --workers 2 --preload"
SERVERS = {
    "uvicorn": "uvicorn asgi:application --port {port}",
    "uvicorn-workers": "uvicorn asgi:application --port {port} --workers 2",
    "uvicorn-reload": "uvicorn asgi:application --port {port} --reload",
    "gunicorn-preload": f"{GUNICORN} --worker-class asgi",
    "gunicorn-uvicorn-preload": f"{GUNICORN} --worker-class uvicorn_worker.UvicornWorker",
    "granian": "granian asgi:application --port {port} --interface asgi --workers 2 --runtime-threads 2",
    "hypercorn": "hypercorn asgi:application --bind 127.0.0.1:{port}",
    "daphne": "daphne asgi:application --port {port}",
}
MODULES = {"gunicorn-uvicorn-preload": "uvicorn_worker"}


class Server:
    def __init__(self, command, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        (folder / "asgi.py").write_text(ASGI)
        base = Path(settings.DATABASES["default"]["NAME"]).parent
        path = os.pathsep.join([str(folder), str(PACKAGE)])
        with (folder / "log").open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command.format(port=self.port).split()],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": path, "HOPLESS_TESTS": str(base)},
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )

    def stop(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=WITHIN_S) as answer:
            return answer.read().decode()

    @property
    def loaded(self):
        return sorted(self.folder.glob("loaded-*"))

    def wait(self, condition):
        until = time.monotonic() + WITHIN_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                if condition():
                    return
            assert self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text())

    def require_kept_threads(self):
        """Send 120 requests, eight at a time, and check that kept threads serve them."""
        paths = ["/users/", "/async/users/", "/in-thread/?leave=x", "/ok/", "/async/ok/", "/in-thread/?leave=x"] * 20
        with ThreadPoolExecutor(8) as clients:
            answers = list(clients.map(self.get, paths))
        assert {text for path, text in zip(paths, answers, strict=True) if "ok" in path} == {"ok"}
        # With Django's handler, each request would run in a new thread without state of earlier requests.
        assert "x" in {json.loads(text)["left"] for path, text in zip(paths, answers, strict=True) if "thread" in path}


@pytest.fixture
def start(tmp_path):
    with contextlib.ExitStack() as stack:

        def of(name):
            command = SERVERS[name]
            if importlib.util.find_spec(MODULES.get(name, command.split()[0])) is None:
                pytest.skip(f"{name} isn't installed")
            server = Server(command, tmp_path)
            stack.callback(server.stop)
            server.wait(lambda: server.get("/ok/") == "ok")
            return server

        yield of


@pytest.mark.parametrize("name", SERVERS)
def test_threads_are_kept_on_servers(start, name):
    server = start(name)
    server.require_kept_threads()
    if "preload" in name:
        assert server.loaded == [server.folder / f"loaded-{server.process.pid}"]


def test_requests_are_served_after_reload(start):
    server = start("uvicorn-reload")
    server.require_kept_threads()
    before = server.loaded
    (server.folder / "asgi.py").write_text(f"{ASGI}# changed")
    server.wait(lambda: server.loaded != before and server.get("/ok/") == "ok")
    server.require_kept_threads()
