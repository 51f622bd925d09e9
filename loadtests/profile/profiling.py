"""Plan a profile from the options of the command, record the profile, and write its folder."""

from __future__ import annotations

import datetime
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from loadtests import engines, files, hosts, setups
from loadtests.errors import UserError, require_within
from loadtests.plan.kinds.requests import named
from loadtests.profile import page as pages
from loadtests.profile.document import document
from loadtests.profile.record import Plan, ProfileRound, Progress, record, watch
from loadtests.records.decode import duration
from loadtests.setups import Setup
from loadtests.setups.application import project
from loadtests.setups.application.progress import Announce, silent
from loadtests.setups.application.project import Options
from loadtests.workload import DEFAULT_ENGINE
from loadtests.workload.load import MAX_RATE

MAX_ROUNDS = 1_000


def plan(
    found: Setup,
    path: str,
    rate: float | None,
    length: tuple[str, int],
    own: Options | None,
    progress: Announce = silent,
) -> Plan:
    """Plan a profile. ``length`` contains the duration of each load and the number of rounds.

    Raises:
        UserError: If an option isn't valid, or the setup can't be served.
    """
    duration_text, rounds = length
    if found.stack:
        raise UserError(
            f"{found.name}: profile doesn't support the stack of {found.stack}. Choose a setup of the benchmark's own "
            "stack"
        )
    require_within("--rounds", rounds, 1, MAX_ROUNDS)
    requests = named([path], None)
    hosts.require_port()
    chosen = project.chosen(own, [found], progress, requests=requests)
    if obstacle := chosen.application.obstacle(found) or found.refuses({setups.HTTP}):
        raise UserError(f"{found.name}: {obstacle}")
    if rate is not None and not 0 < rate <= MAX_RATE:  # NaN is refused, too
        raise UserError(f"--rate {rate:g}: must be above 0 and at most {MAX_RATE:,.0f} requests per second")
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
    return planned


def profile(planned: Plan, output: Path | None, progress: Progress) -> tuple[Path, pages.Document]:
    """Record a profile and write its folder. Return the folder and its document.

    Raises:
        UserError: If the profile can't be recorded.
    """
    folder = _new_folder(output, planned)
    try:
        progress("preparing the project", 0, 2 * planned.rounds + 1)
        planned.application.prepare()
        rounds = record(planned, progress)
        progress("recording all threads with py-spy", 2 * planned.rounds, 2 * planned.rounds + 1)
        failure = watch(planned, folder)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return folder, write(folder, planned, rounds, failure)


def write(folder: Path, planned: Plan, rounds: Sequence[ProfileRound], failure: str) -> pages.Document:
    """Write the page and the figures of a profile into its folder.

    Args:
        folder: The folder of the profile.
        planned: The plan of the profile.
        rounds: The measured rounds.
        failure: The reason why py-spy wrote no file, or an empty string.

    Returns:
        The content of profile.json.
    """
    about = document(planned, rounds)
    if failure:
        about["notes"].append(f"The files for speedscope are missing: {failure}.")
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
        raise UserError(f"{output} already exists. Name another folder with --output") from None
    except OSError as error:
        raise UserError(f"cannot write to {output}: {error.strerror}") from None
    return output
