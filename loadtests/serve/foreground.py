"""Serve one setup in the foreground until it is interrupted."""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import time
from collections.abc import Callable, Sequence

from loadtests import hosts, setups
from loadtests.errors import UserError
from loadtests.serve.serving import NotServing, serving
from loadtests.setups.application import project
from loadtests.setups.application.project import Options
from loadtests.setups.variants import parse_environment

LOOK_EVERY_S = 1.0


def serve(name: str, say: Callable[[str], None], own: Options | None = None, variants: Sequence[str] = ()) -> None:
    """Serve the sample project, or the user's own project, on all cores of this process or on CORES.

    Args:
        name: The name of the setup.
        say: Prints a line, such as the address or a remark.
        own: The options of the user's project.
        variants: The variants of the setup's environment.

    Raises:
        UserError: If the project can't be served, or a process of the setup ends.
    """
    [plain] = setups.find([name])
    setup = plain.with_variants(parse_environment(variants))
    bind, port, host = setups.bind(), setups.port(), hosts.at("local")
    host.require_free(bind, port)
    requested = os.environ.get("CORES")
    cores = host.allot(requested)
    if not requested:
        cores = dataclasses.replace(cores, servers=tuple(sorted(os.sched_getaffinity(0))))
    env = {**cores.knobs({}), "BIND": bind, "PORT": str(port)}
    found = project.chosen(own, [setup], lambda doing: say(f"{doing} ..."))
    application = found.application
    if obstacle := application.obstacle(setup):
        raise UserError(f"{name}: {obstacle}")
    if warning := exposure_warning(bind):
        say(warning)
    for remark in found.remarks:
        say(f"note: {remark}")
    say(f"starting {setup.label} ...")
    application.prepare()
    try:
        with serving(setup, env, application, host) as running:
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


def exposure_warning(bind: str) -> str | None:
    """Return a warning if other machines may reach the address, or None."""
    try:
        if ipaddress.ip_address(bind).is_loopback:
            return None
    except ValueError:  # a host name, which only the server resolves
        return None
    return (
        f"warning: BIND={bind}: anyone who can reach this machine at this address can use the project, which "
        "isn't made for production. Unset BIND to listen only on this machine."
    )
