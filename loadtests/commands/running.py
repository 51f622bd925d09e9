"""What the commands that run a study do alike: they show how it goes, and leave a report however it ends."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from loadtests.commands.console import fail, out, say
from loadtests.errors import UserError, called

if TYPE_CHECKING:
    from loadtests.measure.run import Execution


def carry_out(execution: Execution) -> bool:
    """Runs it with progress and writes its report, also when it is interrupted; returns whether all is valid."""
    from loadtests import report
    from loadtests.commands.progress import RunProgress
    from loadtests.measure.run import execute

    say(execution.headline)
    try:
        with RunProgress(out, len(execution.order), execution.seconds) as progress:
            valid = execute(execution, progress)
    except (KeyboardInterrupt, UserError) as error:
        how = f"{error}; " if isinstance(error, UserError) else "interrupted; "
        with contextlib.suppress(KeyboardInterrupt, UserError):  # on a full disk neither can be written
            report.write(execution.run)
        fail(
            f"{how}go on with: {called()} run --resume {execution.run.path}",
            1 if isinstance(error, UserError) else 130,
        )
    report.write(execution.run)
    return valid
