"""`make outdated`, with registries of the test's own."""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from loadtests.files import ROOT

NOBODY = "http://127.0.0.1:9/"
NPM = """#!/bin/sh
[ "$(basename "$PWD")" = ws ] || exit 0
echo '{"ws": {"current": "8.1.0", "wanted": "8.1.0", "latest": "9.0.0"}, "same": {"wanted": "1.0", "latest": "1.0"}}'
exit 1
"""


class Index(BaseHTTPRequestHandler):
    """An index that has a newer Django, a newer pip, and nothing else."""

    def do_GET(self):
        name = self.path.strip("/")
        known = name in ("django", "pip")
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if known:
            self.wfile.write(f'<a href="/{name}-99.0-py3-none-any.whl">{name}-99.0-py3-none-any.whl</a>'.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def index():
    """The address of an Index."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def printed(index, **env):
    env = {**os.environ, "PIP_INDEX_URL": index, "PIP_FIND_LINKS": "", "npm_config_registry": NOBODY, **env}
    command = [sys.executable, ROOT / "tools/outdated.py"]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_registry_that_does_not_answer_has_a_line():
    assert printed(NOBODY, PATH="") == [
        "the Python package index does not answer: what it has is not looked at",
        "npm's registry does not answer: what it has is not looked at",
        "Named in                            Package                   Installed     Newest",
        "0 behind",
    ]


@pytest.mark.exhaustive  # pip asks for each package
def test_what_is_named_and_behind_has_a_row(index, tmp_path):
    (tmp_path / "npm").write_text(NPM)
    (tmp_path / "npm").chmod(0o755)
    _, *rows, last = printed(index, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert [row.split() for row in rows] == [
        ["requirements.txt", "Django", *rows[0].split()[2:3], "99.0"],  # and not pip, which nothing names
        ["peers/ws/package.json", "ws", "8.1.0", "9.0.0"],
    ]
    assert last == "2 behind"
