"""A profile from its options to its folder."""

from __future__ import annotations

import datetime
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from loadtests import engines, files, hosts, setups
from loadtests.errors import UserError, require_within
from loadtests.plan.kinds.requests import named
from loadtests.profile import flamegraph, oncpu, pyspy, speedscope
from loadtests.profile import page as pages
from loadtests.profile.document import document
from loadtests.profile.record import Plan, ProfileRound, Progress, record
from loadtests.profile.stacks import Stacks
from loadtests.records.decode import duration
from loadtests.setups.application import project
from loadtests.setups.application.progress import Announce, silent
from loadtests.setups.application.project import Options
from loadtests.workload import DEFAULT_ENGINE
from loadtests.workload.load import MAX_RATE

MOST_ROUNDS = 1_000


def plan(
    setup: str,
    path: str,
    rate: float | None,
    length: tuple[str, int],
    own: Options | None,
    progress: Announce = silent,
) -> Plan:
    """The plan of a profile; ``length`` is the duration of a load and the number of rounds. Raises UserError where it
    makes no sense or cannot be served."""
    duration_text, rounds = length
    [found] = setups.find([setup])
    if found.stack:
        raise UserError(
            f"{setup}: profile looks into today's stack and into yours; it cannot into that of {found.stack}"
        )
    require_within("--rounds", rounds, 1, MOST_ROUNDS)
    chosen = project.chosen(own, [found], progress)
    if obstacle := chosen.application.obstacle(found) or found.refuses({setups.HTTP}):
        raise UserError(f"{setup}: {obstacle}")
    named([path], None)
    if rate is not None and not 0 < rate <= MAX_RATE:  # false for NaN as well
        raise UserError(f"--rate {rate:g}: more than 0 and at most {MAX_RATE:,.0f} requests per second are needed")
    host = hosts.at("local")
    planned = Plan(
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
    planned.load(f"http://{host.address(planned.bind)}:{planned.port}")
    engines.get(DEFAULT_ENGINE).require()
    host.require_free(planned.bind, planned.port)
    return planned


def profile(planned: Plan, output: Path | None, progress: Progress) -> tuple[Path, pages.Document]:
    """Records a profile and writes its folder; returns the folder and its document. Raises UserError."""
    folder = _new_folder(output, planned)
    try:
        progress("preparing the project", 0, 3 * planned.rounds)
        planned.application.prepare()
        rounds = record(planned, progress)
    except BaseException:
        folder.rmdir()  # empty: all is written at the end
        raise
    return folder, write(folder, planned, rounds)


def write(folder: Path, planned: Plan, rounds: Sequence[ProfileRound]) -> pages.Document:
    """Writes all files of a profile into the folder, and returns its document."""
    about = document(planned, rounds)
    for role in (entry["role"] for entry in about["roles"]):
        on_cpu, threads = _stacks(rounds, role)
        if on_cpu:
            files.write_text(folder / f"{role}-cpu.svg", flamegraph.svg(f"{role}: CPU time", on_cpu))
        profiles = {
            f"{role}: CPU time": (on_cpu, oncpu.INTERVAL_S),
            f"{role}: all threads": (threads, 1 / pyspy.RATE),
        }
        if profiles := {title: found for title, found in profiles.items() if found[0]}:
            scope = speedscope.document(f"{planned.setup.name}, {planned.path}, {role}", profiles)
            files.write_json(folder / f"{role}.speedscope.json", scope)
    files.write_text(folder / "index.rst", pages.rst(about))
    files.write_json(folder / "profile.json", about)
    return about


def _new_folder(output: Path | None, planned: Plan) -> Path:
    if output is None:
        day = datetime.datetime.now(datetime.UTC).date().isoformat()
        where = re.sub(r"[^a-z0-9]+", "-", planned.path.lower()).strip("-")
        name = f"{day}-profile-{planned.setup.name}" + (f"-{where}" if where else "")
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
    """The samples of a role: on the CPU, and of all threads."""
    on_cpu: Stacks = Counter()
    threads: Stacks = Counter()
    for process in (process for one in rounds for process in one.processes if process.role == role):
        on_cpu += process.stacks or Counter()
        threads += process.threads
    return on_cpu, threads
