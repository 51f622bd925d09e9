"""Measure how exactly an origin keeps its latency under load: ``python -m tools.origin_accuracy``.

The origin runs on one core, and the load generator on another core. The generator sends 2,000 requests per second to
an origin with a latency of one second. The program prints the delays as JSON. Its exit status is 1 if the origin is
late, or if a request isn't answered as expected.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

from loadtests import engines, hosts
from loadtests.cleanup import program
from loadtests.engines.base import Watch
from loadtests.serve.http import ask
from loadtests.workload import Load, Request

RATE = 2000.0  # requests per second
LATENCY_S = 1.0
MAX_P99_MS = 5.0  # for the delay measured by the origin, and for the delay measured by the client
DURATION_S = 15.0
WARMUP_S = 3.0
CONNECTIONS = 4000  # about 2,000 requests are in flight, and rarely more than 2,200
ANSWERS_WITHIN_S = 10.0
SEED = 2016


@dataclasses.dataclass(frozen=True)
class OriginAccuracy:
    """The load on an origin, and the delays of the origin's answers.

    The origin measures the delays ``late_...``, from the time when an answer is due until the origin writes the answer.
    The client measures the delays ``seen_...``: its service times minus the latency. CPU is a share of one core.
    """

    rate: float
    latency_s: float
    core: int
    client_core: int
    sent: int
    ok: int
    most_in_flight: int
    connections: int
    late_p50_ms: float
    late_p99_ms: float
    late_max_ms: float
    seen_p50_ms: float
    seen_p99_ms: float
    send_lag_p99_ms: float
    cpu: float
    client_cpu: float

    @property
    def in_time(self) -> bool:
        """Whether the origin answered all requests, and the p99 of both delays is below MAX_P99_MS.

        The client's delays are required because the origin can't measure the time before it reads a request.
        """
        return self.ok == self.sent and max(self.late_p99_ms, self.seen_p99_ms) < MAX_P99_MS


def measure(rate: float = RATE, latency_s: float = LATENCY_S, duration_s: float = DURATION_S) -> OriginAccuracy:
    """Send load to an origin, and return the delays of its answers.

    Raises:
        UserError: If the origin does not start.
        EngineError: If the generator can't run.
    """
    cores = hosts.at("local").allot(None)
    core, client_core = cores.servers[0], cores.generator[0]
    with _origin(latency_s, core) as port:
        load = Load.of_url(
            f"http://127.0.0.1:{port}/",
            rate=rate,
            arrival_seed=SEED,
            connections=CONNECTIONS,
            duration_s=duration_s,
            warmup_s=WARMUP_S,
            core=client_core,
        )
        result = engines.get("openloop").run(load, Watch(on_start=lambda: _play(port, latency_s)))
        counts = json.loads(_admin(port, "current_count"))
    [client] = result.generator
    beyond_ms = {key: round((result.service_time_ms[key] or 0.0) - latency_s * 1000, 3) for key in ("p50", "p99")}
    return OriginAccuracy(
        rate,
        latency_s,
        core,
        client_core,
        result.sent,
        result.ok,
        counts["most_in_flight"],
        counts["most_connections"],
        **{f"late_{key}_ms": counts["late_ms"][key] for key in ("p50", "p99", "max")},
        **{f"seen_{key}_ms": value for key, value in beyond_ms.items()},
        send_lag_p99_ms=result.send_lag_ms["p99"] or 0.0,
        cpu=round(counts["cpu_s"] / counts["elapsed_s"], 3),
        client_cpu=round(client.cpu_s / client.wall_s, 3),
    )


@contextlib.contextmanager
def _origin(latency_s: float, core: int) -> Iterator[int]:
    """Run an origin with this latency on a core, and yield its port.

    Raises:
        UserError: If the origin doesn't start.
    """
    command = [sys.executable, "-m", "loadtests", "origin", "--port", "0"]
    with program.running(command, {core}) as origin:
        port = urlsplit(program.line(origin, "the origin did not start").partition(" ")[0]).port
        assert port
        _play(port, latency_s)
        yield port


def _play(port: int, latency_s: float) -> None:
    """Set the origin's latency and reset its counts."""
    recipe = {"random_content": "1kb", "stages": [{"at": 0, "latency": f"{latency_s * 1000:g}ms"}]}
    _admin(port, "restart")
    _admin(port, "add_recipe", json.dumps(recipe).encode())


def _admin(port: int, what: str, body: bytes | None = None) -> bytes:
    method = "GET" if body is None else "POST"
    return ask("127.0.0.1", port, Request(what, method, f"/_admin/{what}", body=body), ANSWERS_WITHIN_S).body


if __name__ == "__main__":
    found = measure()
    print(json.dumps({**dataclasses.asdict(found), "in_time": found.in_time}, indent=2))
    sys.exit(not found.in_time)
