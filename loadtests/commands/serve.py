"""Serves one setup until Ctrl-C, for a person or another program to send requests to."""

from __future__ import annotations

import os
import time

from rich.console import Console
from rich.markup import escape

from loadtests import setups
from loadtests.application import project
from loadtests.application.project import Options
from loadtests.errors import UserError
from loadtests.serve.serving import NotServing, serving

CORES_ALL = ",".join(map(str, sorted(os.sched_getaffinity(0))))


def serve(name: str, console: Console, own: Options | None = None) -> None:
    """Serves the sample project, or the user's own, until it is interrupted. Raises UserError where it cannot."""
    [setup] = setups.find([name])
    found = project.chosen(own, [setup])
    application = found.application
    for remark in found.remarks:
        console.print(f"note: {escape(remark)}", soft_wrap=True)
    if obstacle := application.obstacle(setup):
        raise UserError(f"{name}: {obstacle}")
    application.prepare()
    env = {"CORES": os.environ.get("CORES", CORES_ALL)}
    try:
        with serving(setup, env, setups.host(), setups.port(), application) as running:
            console.print(f"{escape(setup.label)} on {running.url}/ (Ctrl-C stops it)", soft_wrap=True)
            console.print(f"logs: {running.folder}", soft_wrap=True)
            while (failed := running.failed()) is None:
                time.sleep(1)
            raise NotServing(failed, running.logs())
    except NotServing as error:
        if error.log:
            console.print(escape(error.log), soft_wrap=True)
        raise UserError(f"{name}: {error}") from None
    except KeyboardInterrupt:
        console.print("stopped")
