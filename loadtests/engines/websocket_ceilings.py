"""What the generator itself can do over WebSockets: a part of ``python -m loadtests engines``.

Against a fast server on another core: echoes as fast as they come back, with their masks and without; deliveries as
fast as what is published is taken; and many held connections with deliveries at a fixed rate.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence

import psutil

from loadtests.engines.openloop import ENGINE
from loadtests.records import Result
from loadtests.workload import Conversation, Load, Request

ECHO_CONNECTIONS = 32
RECEIVERS = 100  # of one room
PUBLISHERS = 4
# What the generator is held to, with no more than CPU_AT_MOST of its core.
HELD = 5000
OF_A_ROOM = 50  # of those
DELIVERIES_PER_S = 20_000.0
CPU_AT_MOST = 0.9


@dataclasses.dataclass(frozen=True)
class WebSocketTurn:
    """One load: messages per second that came back or were delivered, shares of one core, and what they would be by the
    generator's CPU seconds. The lag is that of deliveries, in milliseconds."""

    rate: float
    cpu: float
    per_cpu_s: float
    server_cpu: float
    lag_p99_ms: float | None
    missing: int


@dataclasses.dataclass(frozen=True)
class WebSocketFigures:
    """Each load's round that is the median by its rate; ``held`` are the connections of the last one."""

    echo: WebSocketTurn
    echo_unmasked: WebSocketTurn
    broadcast: WebSocketTurn
    many: WebSocketTurn
    held: int


def loads(url: str, core: int, seconds: float, held: int) -> dict[str, Load]:
    """The loads by the names of WebSocketFigures' fields, on a fast server at ``url``."""

    def load(conversation: Conversation, **options: float | int) -> Load:
        given = {"duration_s": seconds, "core": core, "protocol": "websocket", **options}
        return Load(url, (Request("/"),), conversation=conversation, **given)  # type: ignore[arg-type]

    rooms = Conversation("broadcast", receivers=held, rooms=held // OF_A_ROOM)
    return {
        "echo": load(Conversation("echo"), connections=ECHO_CONNECTIONS),
        "echo_unmasked": load(Conversation("echo", masking=False), connections=ECHO_CONNECTIONS),
        "broadcast": load(Conversation("broadcast", receivers=RECEIVERS), connections=PUBLISHERS),
        "many": load(rooms, rate=DELIVERIES_PER_S / OF_A_ROOM, connections=1),
    }


def turn(load: Load, server: psutil.Process) -> WebSocketTurn:
    """One load, made: its connections are open before anything is measured."""
    with ENGINE.generator(core=load.core) as maker:
        prepared = maker.prepare(load)
        before = sum(server.cpu_times()[:2])
        prepared.measure(load.duration_s)
        used_s = sum(server.cpu_times()[:2]) - before
        result = prepared.result()
    [generator] = result.generator
    in_time, counted = _messages(load, result)
    return WebSocketTurn(
        rate=in_time / result.duration_s,
        cpu=generator.cpu_s / generator.wall_s,
        per_cpu_s=counted / generator.cpu_s,
        server_cpu=used_s / generator.wall_s,
        lag_p99_ms=result.deliveries.lag_ms["p99"] if result.deliveries else None,
        missing=result.deliveries.missing if result.deliveries else 0,
    )


def _messages(load: Load, result: Result) -> tuple[int, int]:
    """The messages that came back or were delivered in time, and all of them."""
    echoes = load.conversation is None or load.conversation.does == "echo"
    if echoes or result.deliveries is None:
        return result.ok, result.ok
    return result.deliveries.timely, result.deliveries.delivered


def figures(rounds: Sequence[dict[str, WebSocketTurn]], held: int) -> WebSocketFigures:
    """The figures of some rounds, each of which has every load's turn by its name."""

    def median(name: str) -> WebSocketTurn:
        rate = statistics.median_low(one[name].rate for one in rounds)
        return next(one[name] for one in rounds if one[name].rate == rate)

    names = (field.name for field in dataclasses.fields(WebSocketFigures) if field.name != "held")
    return WebSocketFigures(**{name: median(name) for name in names}, held=held)
