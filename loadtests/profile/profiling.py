"""Plan a profile from the options of the command, record the profile, and write its folder."""

from __future__ import annotations

import datetime
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from loadtests import engines, files, hosts, setups
from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.observe import machine
from loadtests.plan.kinds.requests import named
from loadtests.profile.record import Plan, Progress, record
from loadtests.profile.shares import Role
from loadtests.records.decode import duration
from loadtests.setups import Setup
from loadtests.setups.application import project
from loadtests.setups.application.own_websocket import without_secrets
from loadtests.setups.application.progress import Announce, silent
from loadtests.setups.application.project import Options
from loadtests.workload import DEFAULT_ENGINE

SCHEMA = 3
ENOUGH = 500  # with this number of samples, a share of 50% is accurate to 4%, and a share of 10% to 3%


def plan(found: Setup, path: str, length: str, own: Options | None, progress: Announce = silent) -> Plan:
    """Plan a profile. ``length`` is the duration of the load.

    Raises:
        UserError: If an option isn't valid, or the setup can't be served.
    """
    if found.stack:
        raise UserError(
            f"{found.name}: profile doesn't support the stack of {found.stack}. Choose a setup of the benchmark's own "
            "stack"
        )
    requests = named([path], None)
    hosts.require_port()
    files.require_writable(files.RESULTS / "profile")
    chosen = project.chosen(own, [found], progress, requests=requests)
    if obstacle := chosen.application.obstacle(found) or found.refuses({setups.HTTP}):
        raise UserError(f"{found.name}: {obstacle}")
    host = hosts.at("local")
    planned = Plan(
        setup=found,
        application=chosen.application,
        path=path,
        duration_s=duration(length),
        host=host,
        bind=setups.bind(),
        port=setups.port(),
        cores=host.allot(os.environ.get("CORES")),
        remarks=chosen.remarks,
    )
    planned.load(f"http://{host.address(planned.bind)}:{planned.port}")
    engines.get(DEFAULT_ENGINE).require()
    return planned


def profile(planned: Plan, progress: Progress) -> tuple[Path, dict[str, Any]]:
    """Record a profile and write its folder. Return the folder and the content of profile.json.

    Raises:
        UserError: If the profile can't be recorded.
    """
    planned.application.prepare()
    recording = record(planned, progress)
    roles = recording.roles()
    samples = sum(role.samples for role in roles)
    if samples < ENOUGH:
        raise UserError(
            f"{planned.setup.name}: {plural(samples, 'sample')} of CPU time; a profile needs at least {ENOUGH}. Set a "
            "longer --duration, or profile a setup in Python"
        )
    now = datetime.datetime.now(datetime.UTC)
    folder = files.RESULTS / f"{now:%Y-%m-%d-%H%M%S}-profile-{planned.setup.name}"
    about = {
        "schema": SCHEMA,
        "setup": planned.setup.name,
        "label": planned.setup.label,
        "interface": planned.setup.interface,
        "created": now.isoformat(timespec="seconds"),
        "command": shlex.join(["python", "-m", "loadtests", *without_secrets(sys.argv[1:])]),
        "path": planned.path,
        "duration_s": planned.duration_s,
        "answered_per_s": recording.requests / recording.seconds,
        "roles": [role.to_dict(recording.requests) for role in roles],
        "notes": planned.remarks,
        "knobs": setups.given(),
        "cores": planned.cores.to_dict({}),
        "machine": machine.describe(),
        "versions": machine.versions(),
        "git": machine.git(),
    }
    folder.mkdir(parents=True)
    files.write_json(folder / "profile.json", about)
    files.write_json(folder / "cpu.speedscope.json", speedscope(roles))
    return folder, about


def speedscope(roles: list[Role]) -> dict[str, Any]:
    """Return the samples in the file format of https://www.speedscope.app, with a flame graph for each role."""
    places: dict[tuple[str, str], int] = {}
    profiles = []
    for role in roles:
        samples = [
            [places.setdefault((frame.name, frame.file), len(places)) for frame in stack] for stack in role.stacks
        ]
        profiles.append(
            {
                "type": "sampled",
                "name": role.role,
                "unit": "none",
                "startValue": 0,
                "endValue": role.samples,
                "samples": samples,
                "weights": list(role.stacks.values()),
            }
        )
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": name, "file": file} for name, file in places]},
        "profiles": profiles,
    }
