"""Check whether a server is ready, and whether it has recovered from an overload."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping

from loadtests.observe.processes import Usage
from loadtests.serve.http import Answer

LOOK_EVERY_S = 0.05
# All workers are ready if the setup used almost no CPU time between STILL_LOOKS consecutive checks, because starting
# processes use the CPU continuously. CPU time is counted in ticks of 10 ms. A setup that never rests is accepted after
# STILL_WITHIN_S.
STILL_LOOKS = 6
STILL_CPU_S = 0.015
STILL_WITHIN_S = 5.0
NOT_READY = (502, 503, 504)  # nginx uses these statuses until the server behind it is ready

# An overloaded server has recovered if CALM_ANSWERS consecutive answers each take less than CALM_S, or less than
# CALM_TIMES the time of an answer at rest.
CALM_TIMES = 3.0
CALM_S = 0.1
CALM_ANSWERS = 3
CALM_WITHIN_S = 20.0
CALM_PAUSE_S = 0.1


def unhealthy(ask: Callable[[], Answer], own: bool) -> str | None:
    """Return why a server isn't healthy, or None if it answers with 200.

    The user's own project may give any answer, except the answer of a proxy that waits for the server.

    Args:
        ask: Sends a request. It may raise OSError or HTTPException.
        own: Whether the user's own project is served.
    """
    try:
        status = ask().status
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    healthy = status not in NOT_READY if own else status == 200
    return None if healthy else f"status {status}"


class Stillness:
    """Check whether the processes of a setup are at rest. ``usage`` returns their resource use so far, by pid."""

    def __init__(self, usage: Callable[[], Mapping[int, Usage]]) -> None:
        self._usage = usage
        self._last: Mapping[int, Usage] = {}
        self._still = 0

    def reached(self) -> bool:
        """Check again. Return whether no process started, ended or used the CPU during the last STILL_LOOKS checks."""
        now = self._usage()
        computed = sum(usage.cpu_s for usage in now.values()) - sum(usage.cpu_s for usage in self._last.values())
        still = now.keys() == self._last.keys() and computed < STILL_CPU_S
        self._still = self._still + 1 if still else 0
        self._last = now
        return self._still >= STILL_LOOKS


def seconds_to_answer(ask: Callable[[], object]) -> float:
    """Return the time of the fastest of three answers, in seconds. Exceptions from ``ask`` propagate."""
    found = []
    for _ in range(CALM_ANSWERS):
        begun = time.monotonic()
        ask()
        found.append(time.monotonic() - begun)
    return min(found)


def calm_down(ask: Callable[[], object], idle_s: float, within_s: float = CALM_WITHIN_S) -> bool:
    """Wait until the server answers several times in a row nearly as fast as at rest.

    Args:
        ask: Sends a request.
        idle_s: The time of an answer at rest (see ``seconds_to_answer``).
        within_s: The maximum time to wait, in seconds.

    Returns:
        Whether the server recovered in time.
    """
    calm_s = max(CALM_S, CALM_TIMES * idle_s)
    end = time.monotonic() + within_s
    quick = 0
    while quick < CALM_ANSWERS and time.monotonic() < end:
        begun = time.monotonic()
        try:
            ask()
            calm = time.monotonic() - begun < calm_s
        except (OSError, http.client.HTTPException):
            calm = False
        quick = quick + 1 if calm else 0
        if not calm:
            time.sleep(CALM_PAUSE_S)
    return quick == CALM_ANSWERS
