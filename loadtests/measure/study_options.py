"""Select a study, and change it according to the command-line options."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from loadtests import setups
from loadtests.errors import UserError, called, require_within, shown
from loadtests.plan import study as studies
from loadtests.plan.study import Study
from loadtests.records.decode import duration
from loadtests.records.run.run_record import Goal
from loadtests.setups import environment, variants
from loadtests.setups.application import project
from loadtests.workload import sign_in
from loadtests.workload.load import MAX_RATE

# The default studies for the user's own project and its WebSockets.
OWN_STUDY, OWN_WEBSOCKETS = "own-project", "own-websockets"
OWN_JOURNEY = "own-journey"  # the default study for a journey of the project's users
AA_STUDY = "first-look"  # the default study for --duplicate-baseline
MIN_RATE = 0.1  # at a lower rate, a trial sends nothing
MAX_TIME = "1h"  # the default time limit for adding blocks


@dataclasses.dataclass(frozen=True)
class StudyOptions:
    """The name of a study, and the command-line options that change the study.

    ``setups`` contains labels, such as ``a,b``. ``rate`` applies to all tests with a fixed rate.
    """

    name: str
    blocks: int | None = None
    setups: str | None = None
    rate: float | None = None
    aa: bool = False
    quick: bool = False
    variants: tuple[str, ...] = ()

    def study(self) -> Study:
        """Return the changed study.

        Raises:
            UserError: If an option isn't valid.
        """
        if not self.name:
            raise UserError(
                f"name a study, such as first-look (see `{called()} list studies`), your own project with --app, or a "
                f"run folder with --resume"
            )
        study = studies.load(self.name)
        if self.setups is not None:
            study = study.only([label.strip() for label in self.setups.split(",")])
        study = study.with_variants(variants.parse_options(self.variants))
        if self.rate is not None:
            require_within("--rate", self.rate, MIN_RATE, int(MAX_RATE))
            study = dataclasses.replace(study, tests=tuple(test.at_rate(self.rate) for test in study.tests))
        if self.quick:
            study = study.quick()
        if self.blocks is not None:
            require_within("--blocks", self.blocks, 1, studies.MAX_BLOCKS)
            study = dataclasses.replace(study, blocks=self.blocks)
        return study.with_copy() if self.aa else study


@dataclasses.dataclass(frozen=True)
class OwnJourney:
    """The command-line options for the user's own journey and its login."""

    journey: Path | None = None
    login: str | None = None
    login_user: str | None = None
    login_accounts: Path | None = None

    def in_study(self, study: Study) -> Study:
        """Return a copy of the study whose users run this journey, or send its requests, with this login.

        Raises:
            UserError: If the journey isn't valid.
        """
        file = self.journey
        if file is not None and (file.suffix != ".py" or not os.path.isfile(file)):
            raise UserError(
                f"--journey {shown(str(file))}: must be a Python file with a journey. Create one with `workload "
                f"journey`"
            )
        return study.with_journey(file, sign_in.from_options(self.login, self.login_user, self.login_accounts))


def default_study(own: project.Options | None, users: OwnJourney | None, aa: bool) -> str:
    """Return the default study for the user's journey, the user's project or an A/A run, or else an empty string."""
    if users is not None and (users.journey is not None or own is None):
        return OWN_JOURNEY
    if own is None:
        return AA_STUDY if aa else ""
    return OWN_STUDY if own.websocket is None else OWN_WEBSOCKETS


def require_environments(own: project.Options | None, study: Study, servers: str | None) -> None:
    """Check that the variants of the study's setups can be served on this machine, or on the host ``servers``.

    Raises:
        UserError: If a variant names a checkout but no project is given, or if a variant needs packages that the host
            doesn't have.
    """
    for entry in study.entries:
        if servers and {*entry.variant} - {variants.HOPLESS}:
            changed = " and ".join(entry.variant)
            raise UserError(f"{entry.label} needs {changed}, which is only on this machine. Leave out --servers")
        for one in variants.parse_environment(entry.variant):
            if own is None and (one.folder or one.file):
                raise UserError(f"--variant {one.text}: is a part of your project. Name the project with --app")
            if own and one.folder:
                project.unloaded(dataclasses.replace(own, app=Path(one.folder)), environment.own_bin())


def require_websocket_test(own: project.Options | None, study: Study) -> None:
    """Check that the study has a test for the project's WebSockets.

    Raises:
        UserError: If options describe the project's WebSockets, but no test uses WebSockets.
    """
    if own and own.websocket and not any(setups.WEBSOCKET in test.setup_features for test in study.tests):
        raise UserError(f"--ws-path: no test of {study.name} uses WebSockets. Use the study {OWN_WEBSOCKETS}")


def goal_of(until: str | None, max_time: str | None) -> Goal | None:
    """Return the goal for adding blocks, from ``--precision 2%`` and ``--max-time 1h``.

    Raises:
        UserError: If a value isn't valid.
    """
    if until is None:
        if max_time is not None:
            raise UserError("--max-time only works with --precision. Add a precision: --precision 2%")
        return None
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*%\s*", until)
    if match is None or not 0 < float(match[1]) < 100:
        raise UserError(f"--precision {until}: write a percentage, such as 2%")
    return Goal(float(match[1]) / 100, duration(MAX_TIME if max_time is None else max_time))
