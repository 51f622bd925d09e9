"""A load over WebSockets under which the server is restarted."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

from loadtests.engines.base import OnSecond, SlicingEngine
from loadtests.measure.bench import Bench
from loadtests.measure.observation import Stretch, beside
from loadtests.observe import conditions
from loadtests.records import Result
from loadtests.serve.base import Server
from loadtests.workload import Load

LEAD_S = 1.0  # for so long messages flow before


def restarting(
    bench: Bench, running: Server, engine: SlicingEngine, load: Load, on_second: OnSecond
) -> tuple[Result, Stretch]:
    """Makes the load, and restarts the server meanwhile. What the setup's processes used is not told: those that ended
    took it with them. Raises NotServing where the server does not stop in its time, or does not come up again."""
    host, cores = bench.host, bench.cores.servers
    with engine.generator(load.processes, load.core) as maker, ThreadPoolExecutor(1) as aside:
        prepared = maker.prepare(load)
        first, before = host.moment(cores), host.load_elsewhere()
        restart = aside.submit(_restart, running)
        prepared.measure(load.duration_s, on_second=on_second, should_stop=lambda: _failed(restart))
        restart.result()
        machine = conditions.between(first, host.moment(cores), cores, 0.0)
        return prepared.result(), Stretch((), {}, {}, machine, beside=beside(before, host.load_elsewhere()))


def _restart(running: Server) -> None:
    time.sleep(LEAD_S)
    running.restart()


def _failed(restart: Future[None]) -> bool:
    return restart.done() and restart.exception() is not None
