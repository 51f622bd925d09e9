"""What the generator itself can do over WebSockets: a part of ``python -m loadtests engines``.

Against a fast server on another core: echoes as fast as they come back, with their masks and without; deliveries as
fast as what is published is taken; and many connections with deliveries at a fixed rate.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import psutil

from loadtests.engines.openloop import ENGINE
from loadtests.workload import Conversation, Load, Request

ECHO_CONNECTIONS = 32
RECEIVERS = 100  # of one room
PUBLISHERS = 4
# The objective of the generator, with no more than CPU_AT_MOST of its core.
CONNECTIONS = 5000
OF_A_ROOM = 50  # of those
DELIVERIES_PER_S = 20_000.0
CPU_AT_MOST = 0.9


@dataclasses.dataclass(frozen=True)
class WebSocketCeiling:
    """One load: messages per second that came back or were delivered, also by the generator's CPU second; CPU as shares
    of one core; the lag of deliveries."""

    rate: float
    cpu: float
    per_cpu_s: float
    server_cpu: float
    lag_p99_ms: float | None
    missing: int


@dataclasses.dataclass(frozen=True)
class WebSocketFigures:
    """Of each load the round with the median rate; the last load has ``connections``."""

    echo: WebSocketCeiling
    echo_unmasked: WebSocketCeiling
    broadcast: WebSocketCeiling
    many: WebSocketCeiling
    connections: int


def loads(url: str, core: int, seconds: float, connections: int) -> dict[str, Load]:
    """The loads by the names of WebSocketFigures' fields, on a fast server at ``url``."""

    def load(conversation: Conversation, **options: float | int) -> Load:
        given = {"duration_s": seconds, "core": core, "protocol": "websocket", **options}
        return Load(url, (Request("/"),), conversation=conversation, **given)  # type: ignore[arg-type]

    rooms = Conversation("broadcast", receivers=connections, rooms=connections // OF_A_ROOM)
    return {
        "echo": load(Conversation("echo"), connections=ECHO_CONNECTIONS),
        "echo_unmasked": load(Conversation("echo", masking=False), connections=ECHO_CONNECTIONS),
        "broadcast": load(Conversation("broadcast", receivers=RECEIVERS), connections=PUBLISHERS),
        "many": load(rooms, rate=DELIVERIES_PER_S / OF_A_ROOM, connections=1),
    }


def measure(load: Load, server: psutil.Process) -> WebSocketCeiling:
    """Makes a load, whose connections are open before anything is measured."""
    with ENGINE.generator(core=load.core) as generator:
        prepared = generator.prepare(load)
        before = sum(server.cpu_times()[:2])
        prepared.measure(load.duration_s)
        server_s = sum(server.cpu_times()[:2]) - before
        result = prepared.result()
    [used] = result.generator
    in_time, messages = result.ok, result.ok
    echoes = load.conversation is None or load.conversation.does == "echo"
    if not echoes and result.deliveries is not None:
        in_time, messages = result.deliveries.timely, result.deliveries.delivered
    return WebSocketCeiling(
        rate=in_time / result.duration_s,
        cpu=used.cpu_s / used.wall_s,
        per_cpu_s=messages / used.cpu_s,
        server_cpu=server_s / used.wall_s,
        lag_p99_ms=result.deliveries.lag_ms["p99"] if result.deliveries else None,
        missing=result.deliveries.missing if result.deliveries else 0,
    )


def figures(rounds: Sequence[dict[str, WebSocketCeiling]], connections: int) -> WebSocketFigures:
    """The figures of some rounds, each with the ceilings of all loads by name."""
    medians = {
        name: sorted((found[name] for found in rounds), key=lambda one: one.rate)[(len(rounds) - 1) // 2]
        for name in rounds[0]
    }
    return WebSocketFigures(**medians, connections=connections)
