"""Connections that are opened in steps, between which the servers are looked at."""

from __future__ import annotations

import time
from collections.abc import Mapping

from loadtests.engines.base import PreparedLoad
from loadtests.measure.bench import Bench
from loadtests.observe.processes import Usage
from loadtests.serve.base import Server
from loadtests.workload import Load

# What a handshake took for a moment is given back by then.
SETTLED_S = 1.0


def stepped(bench: Bench, running: Server, load: Load, prepared: PreparedLoad) -> tuple[Mapping[int, Usage], ...]:
    """Opens all that a load holds, and returns what the setup's processes had used after each step, by pid; nothing
    for a load that opens all of it at once. The first step is open. Raises EngineError."""
    steps = load.conversation.steps if load.conversation else 1
    if steps == 1:
        return ()
    seen = []
    for step in range(steps):
        if step:
            prepared.step()
        time.sleep(SETTLED_S)
        seen.append(bench.host.usage(running.parts(), running.folder))
    return tuple(seen)
