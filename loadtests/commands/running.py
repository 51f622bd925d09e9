"""What the commands that run a study do alike: they show how it goes, and leave a report however it ends."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from loadtests.commands.console import fail, out, say_wrapped
from loadtests.commands.waiting import waiting
from loadtests.errors import UserError, called

if TYPE_CHECKING:
    from loadtests.measure.run import Execution


def carry_out(execution: Execution, anyway: bool = False) -> bool:
    """Runs it with progress and writes its report, also when it is interrupted; returns whether all is valid.

    Where the machine spoils one trial after another it ends early, unless it is to go on ``anyway``.
    """
    from loadtests.commands.progress import RunProgress
    from loadtests.measure.contention import TooBusy
    from loadtests.measure.run import execute

    say_wrapped(execution.headline)
    try:
        sends = {test.name: test.load_unit for test in execution.study.tests}
        with RunProgress(out, len(execution.order), execution.seconds, sends) as progress:
            valid = execute(dataclasses.replace(execution, anyway=anyway), progress)
    except (KeyboardInterrupt, UserError) as error:
        how = f"{error}; " if isinstance(error, UserError) else "interrupted; "
        with contextlib.suppress(KeyboardInterrupt, UserError):  # on a full disk neither can be written
            _report(execution)
        otherwise = "; with --anyway it goes on regardless" if isinstance(error, TooBusy) else ""
        fail(
            f"{how}go on with: {called()} run --resume {execution.run.path}{otherwise}",
            1 if isinstance(error, UserError) else 130,
        )
    _report(execution)
    return valid


def _report(execution: Execution) -> None:
    from loadtests.report import reports

    with waiting(out) as told:
        told("writing the report")
        reports.write(execution.run)
