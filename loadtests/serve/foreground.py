"""Serves one setup until it is interrupted, for a person or another program to send requests to."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable

from loadtests import hosts, setups
from loadtests.errors import UserError
from loadtests.serve import exposure
from loadtests.serve.base import NotServing
from loadtests.serve.serving import serving
from loadtests.setups.application import project
from loadtests.setups.application.project import Options

LOOK_EVERY_S = 1.0


def serve(name: str, say: Callable[[str], None], own: Options | None = None) -> None:
    """Serves the sample project, or the user's own, on all cores that this process may use (or on CORES).

    ``say`` is told, line by line, where it is and what to know of it. Raises UserError where it cannot be served or a
    process of it ends.
    """
    [setup] = setups.find([name])
    bind, port, host = setups.bind(), setups.port(), hosts.at("local")
    host.require_free(bind, port)
    wanted = os.environ.get("CORES")
    cores = host.allot(wanted)
    if not wanted:
        cores = dataclasses.replace(cores, servers=tuple(sorted(os.sched_getaffinity(0))))
    env = cores.knobs({})
    found = project.chosen(own, [setup], lambda doing: say(f"{doing} ..."))
    application = found.application
    if obstacle := application.obstacle(setup):
        raise UserError(f"{name}: {obstacle}")
    if exposed := exposure.warning(bind, port):
        say(exposed)
    for remark in found.remarks:
        say(f"note: {remark}")
    say(f"starting {setup.label} ...")
    application.prepare()
    try:
        with serving(setup, env, bind, port, application, host) as running:
            say(f"{setup.label} on {running.url}/ (Ctrl-C stops it)")
            say(f"logs: {running.folder}")
            while (failed := running.failed()) is None:
                time.sleep(LOOK_EVERY_S)
            raise NotServing(failed, running.logs())
    except NotServing as error:
        if error.log:
            say(error.log)
        raise UserError(f"{name}: {error}") from None
    except KeyboardInterrupt:
        say("stopped")
