"""What a probe left behind is not the next one's to bear."""

import http.server
import threading

import pytest

from loadtests.serve import http as asking
from loadtests.serve.http import CALM_ANSWERS, calm_down
from loadtests.workload import Request

ROOT = Request("root", path="/where")


class Worn:
    """A server that is worn out for its first answers: it drops the connection, and is well from then on."""

    def __init__(self):
        self.bad = 0
        self.asked = []
        worn = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                worn.asked.append(self.path)
                if len(worn.asked) <= worn.bad:
                    self.close_connection = True
                    return
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.address = self.server.server_address


@pytest.fixture
def worn():
    found = Worn()
    thread = threading.Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join()


def test_a_calm_server_is_asked_a_few_times(worn, monkeypatch):
    monkeypatch.setattr(asking, "CALM_S", 5.0)
    assert calm_down(*worn.address, ROOT)
    assert worn.asked == ["/where"] * CALM_ANSWERS


def test_a_worn_server_is_waited_for_until_it_answers_in_a_row(worn, monkeypatch):
    monkeypatch.setattr(asking, "CALM_S", 1.0)
    worn.bad = 2
    assert calm_down(*worn.address, ROOT)
    assert len(worn.asked) == 2 + CALM_ANSWERS


def test_one_that_never_recovers_is_given_up(worn, monkeypatch):
    monkeypatch.setattr(asking, "CALM_S", 0.01)
    monkeypatch.setattr(asking, "CALM_WITHIN_S", 0.3)
    worn.bad = 10**6
    assert not calm_down(*worn.address, ROOT)


def test_answers_that_are_slow_are_not_calm(worn, monkeypatch):
    monkeypatch.setattr(asking, "CALM_S", 0.0)
    monkeypatch.setattr(asking, "CALM_WITHIN_S", 0.2)
    assert not calm_down(*worn.address, ROOT)
