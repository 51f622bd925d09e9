"""Starts each setup in turn and compares their answers with those of the first: `python -m loadtests check`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape

from loadtests.observe import cores
from loadtests.serve import setups
from loadtests.serve.contract import REQUESTS, Difference, answers, differences
from loadtests.serve.http import Answer
from loadtests.serve.serving import NotServing, serving
from loadtests.serve.setups import Setup

REFERENCE = "gunicorn"  # WSGI is what Django's views have been written for the longest


@dataclasses.dataclass
class Check:
    """What a check found: the setups that were compared, those that do not serve, and all that differs."""

    compared: list[Setup] = dataclasses.field(default_factory=list)
    failed: list[tuple[Setup, NotServing]] = dataclasses.field(default_factory=list)
    differences: list[Difference] = dataclasses.field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether every setup serves and answers as the reference does."""
        return not self.failed and not self.differences


def check(names: Sequence[str], on_setup: Callable[[Setup], None]) -> Check:
    """Compares the answers of the setups of these names, of all where none is named.

    The reference is started first, even where it is not named. ``on_setup`` is told of each setup before it is
    started. Raises UserError.
    """
    chosen = setups.find(names)
    [reference] = setups.find([REFERENCE])
    env = {"CORES": cores.allot(os.environ.get("CORES")).servers_list}
    expected: dict[str, Answer | str] | None = None
    result = Check()
    for setup in [reference, *(setup for setup in chosen if setup.name != REFERENCE)]:
        on_setup(setup)
        try:
            with serving(setup, env, setups.host(), setups.port()) as running:
                given = answers(running)
        except NotServing as error:
            result.failed.append((setup, error))
            if setup is reference:
                break  # there is nothing to compare with
            continue
        expected = expected or given
        result.compared.append(setup)
        result.differences += differences(setup.name, expected, given)
    return result


def print_check(names: Sequence[str], console: Console) -> bool:
    """Runs the check, prints what differs and returns whether all is well. Raises UserError."""
    found = check(names, lambda setup: console.print(f"{setup.name} ...", soft_wrap=True))
    for setup, error in found.failed:
        console.print(f"[bold red]{setup.name}[/]: {escape(str(error))}\n{escape(error.log)}", soft_wrap=True)
    for difference in found.differences:
        request = difference.request
        console.print(
            f"[bold red]{difference.setup}[/]: {escape(request.name)}: {request.method} {escape(request.path)}"
        )
        console.print(f"    {REFERENCE} answered {escape(difference.expected)}", soft_wrap=True)
        console.print(f"    {difference.setup} answered {escape(difference.found)}", soft_wrap=True)
    console.print(
        f"{len(REQUESTS)} requests to each of {len(found.compared)} setups: {len(found.differences)} differences"
    )
    return found.good
