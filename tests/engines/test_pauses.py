"""Test that a load in slices has the same results as an uninterrupted load if the server pauses regularly."""

import contextlib
import http.server
import socketserver
import threading
import time

import pytest

from loadtests.engines import get
from loadtests.workload import Load

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive, pytest.mark.timeout(600)]

WITHIN = 0.05
WHOLE_S = 30.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
def pausing():
    """Return a function that starts a server and returns its URL.

    The server answers a request after ``answer_s`` seconds, and every ``every``-th request after ``pause_s`` seconds.
    """
    servers = []

    def start(answer_s, pause_s, every):
        lock, count = threading.Lock(), iter(range(1, 10**9))

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with lock:
                    time.sleep(pause_s if next(count) % every == 0 else answer_s)
                self.wfile.write(ANSWER)

            def handle(self):
                with contextlib.suppress(ConnectionError):
                    super().handle()

            def log_message(self, *args):
                pass

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


# A busy machine or random arrivals would change the results of 30 s by more than WITHIN. For this reason, answers take
# much longer than their CPU time, and arrivals are regular. The pauses are also regular, so all slices could start at
# the same distance from a pause. To prevent this, the settling times before slices are spread over the time between two
# pauses.
@pytest.mark.parametrize(("answer_s", "pause_s", "every", "rate"), [(0.008, 0.3, 40, None), (0.005, 0.3, 21, 40)])
def test_slices_contain_their_share_of_pauses(pausing, answer_s, pause_s, every, rate):
    between_s = every / rate if rate else (every - 1) * answer_s + pause_s

    def make(slices):
        with get("openloop").generator() as maker:
            prepared = maker.prepare(Load.of_url(pausing(answer_s, pause_s, every), rate=rate, duration_s=WHOLE_S))
            for place in range(slices):  # the golden ratio spreads the settling times evenly
                prepared.measure(WHOLE_S / slices, settle_s=0.1 + place * 1.618 % 1 * between_s)
            return prepared.result()

    whole, sliced = make(1), make(round(WHOLE_S / 0.5))
    assert sliced.planned == sliced.ok + sum(sliced.errors.values()) + sliced.unfinished
    if rate is None:
        assert sliced.rate == pytest.approx(whole.rate, rel=WITHIN)
    else:
        assert sliced.response_time_ms["mean"] == pytest.approx(whole.response_time_ms["mean"], rel=WITHIN)
