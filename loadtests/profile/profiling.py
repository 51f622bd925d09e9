"""A profile from beginning to end: what is asked for, checked; recorded; and written into a folder."""

from __future__ import annotations

import datetime
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from loadtests import engines, files, hosts, setups
from loadtests.errors import UserError, require_within
from loadtests.formatting import plural
from loadtests.plan import request_options
from loadtests.profile import flamegraph, oncpu, pyspy, speedscope
from loadtests.profile import page as pages
from loadtests.profile.document import document
from loadtests.profile.page import Drawing, ProfilePage
from loadtests.profile.record import Plan, ProfileRound, Progress, record
from loadtests.profile.stacks import Stacks
from loadtests.records.toml import duration
from loadtests.setups.application import project
from loadtests.setups.application.progress import Doing, silently
from loadtests.setups.application.project import Options
from loadtests.workload import DEFAULT_ENGINE
from loadtests.workload.load import MAX_RATE

MOST_ROUNDS = 1_000


def plan(
    setup: str,
    path: str,
    rate: float | None,
    duration_text: str,
    rounds: int,
    own: Options | None,
    told: Doing = silently,
) -> Plan:
    """What a person asked for. Raises UserError where it makes no sense or cannot be served."""
    [found] = setups.find([setup])
    if found.stack:
        raise UserError(
            f"{setup}: profile looks into today's stack and into yours; it cannot into that of {found.stack}"
        )
    require_within("--rounds", rounds, 1, MOST_ROUNDS)
    chosen = project.chosen(own, [found], told)
    if obstacle := chosen.application.obstacle(found) or found.refuses({setups.HTTP}):
        raise UserError(f"{setup}: {obstacle}")
    request_options.named([path], None)
    if rate is not None and not 0 < rate <= MAX_RATE:  # false for NaN as well
        raise UserError(f"--rate {rate:g}: more than 0 and at most {MAX_RATE:,.0f} requests per second are needed")
    host = hosts.at("local")
    wanted = Plan(
        setup=found,
        application=chosen.application,
        path=path,
        rate=rate,
        duration_s=duration(duration_text),
        rounds=rounds,
        host=host,
        bind=setups.bind(),
        port=setups.port(),
        cores=host.allot(os.environ.get("CORES")),
        remarks=chosen.remarks,
    )
    wanted.load(f"http://{host.address(wanted.bind)}:{wanted.port}")
    engines.get(DEFAULT_ENGINE).require()
    host.require_free(wanted.bind, wanted.port)
    return wanted


def profile(wanted: Plan, output: Path | None, progress: Progress) -> tuple[Path, ProfilePage]:
    """Records it and writes the folder; returns the folder and what is to be shown. Raises UserError."""
    folder = _made(output, wanted)
    try:
        progress("preparing the project", 0, 3 * wanted.rounds)
        wanted.application.prepare()
        rounds = record(wanted, progress)
    except BaseException:
        folder.rmdir()  # empty: all is written at the end
        raise
    return folder, write(folder, wanted, rounds)


def write(folder: Path, wanted: Plan, rounds: Sequence[ProfileRound]) -> ProfilePage:
    """Writes all files of a profile into the folder."""
    about = document(wanted, rounds)
    drawings: dict[str, list[Drawing]] = {}
    for role in (entry["role"] for entry in about["roles"]):
        on_cpu, threads = _stacks(rounds, role)
        drawings[role] = _drawings(role, on_cpu, threads)
        profiles = {
            title: (stacks, seconds)
            for title, stacks, seconds in (
                (f"{role}: CPU time", on_cpu, oncpu.INTERVAL_S),
                (f"{role}: all threads", threads, 1 / pyspy.RATE),
            )
            if stacks
        }
        if profiles:
            scope = speedscope.document(f"{wanted.setup.name}, {wanted.path}, {role}", profiles)
            files.write_json(folder / f"{role}.speedscope.json", scope)
    content = pages.page(about, drawings)
    for drawing in (one for found in drawings.values() for one in found):
        files.write_text(folder / f"{drawing.name}.svg", drawing.svg)
    files.write_text(folder / "index.html", pages.html(content))
    files.write_text(folder / "index.rst", pages.rst(content))
    files.write_json(folder / "profile.json", about)
    return content


def _made(output: Path | None, wanted: Plan) -> Path:
    if output is None:
        day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        where = re.sub(r"[^a-z0-9]+", "-", wanted.path.lower()).strip("-")
        name = f"{day}-profile-{wanted.setup.name}" + (f"-{where}" if where else "")
        output, number = files.RESULTS / name, 2
        while output.exists():
            output, number = files.RESULTS / f"{name}-{number}", number + 1
    try:
        output.mkdir(parents=True)
    except FileExistsError:
        raise UserError(f"{output} exists already; name another folder with --output") from None
    except OSError as error:
        raise UserError(f"cannot write to {output}: {error.strerror}") from None
    return output


def _stacks(rounds: Sequence[ProfileRound], role: str) -> tuple[Stacks, Stacks]:
    on_cpu: Stacks = Counter()
    threads: Stacks = Counter()
    for process in (process for one in rounds for process in one.processes if process.role == role):
        on_cpu += process.stacks or Counter()
        threads += process.threads
    return on_cpu, threads


def _drawings(role: str, on_cpu: Stacks, threads: Stacks) -> list[Drawing]:
    found = []
    for kind, stacks, what in (
        ("cpu", on_cpu, "CPU time"),
        ("threads", threads, "all threads, also those that wait"),
    ):
        if not stacks:
            continue
        number = sum(stacks.values())
        about = (
            f"{plural(number, 'sample')}; callers above what they call; frames under 0.08% of the width are left out"
        )
        drawing = flamegraph.svg(f"{role}: {what}", about, stacks)
        caption = f"{role}: {what}."
        found.append(Drawing(f"{role}-{kind}", caption, f"Flame graph of {caption}", drawing, f"{role}-{kind}.svg"))
    return found
