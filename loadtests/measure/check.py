"""Starts each setup in turn and compares their answers with those of the first: `python -m loadtests check`.

For the sample project these are the requests of the contract; for a project of the user's, those that they name. There
the first setup's answers are no better than the others': what is found is that WSGI and ASGI, or two servers, differ.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape

from loadtests import setups
from loadtests.application import Application, project, sample
from loadtests.application.project import Options
from loadtests.errors import UserError
from loadtests.observe import cores
from loadtests.serve.contract import REQUESTS, Difference, answers, differences
from loadtests.serve.http import Answer
from loadtests.serve.serving import NotServing, serving
from loadtests.setups import Setup
from loadtests.workload import Request

REFERENCE = "gunicorn"  # WSGI is what Django's views have been written for the longest


@dataclasses.dataclass
class Check:
    """What a check found: the setups that were compared, those that were skipped and why, those that do not serve, and
    all that differs from the answers of the first."""

    requests: Sequence[Request]
    compared: list[Setup] = dataclasses.field(default_factory=list)
    skipped: dict[str, str] = dataclasses.field(default_factory=dict)
    failed: list[tuple[Setup, NotServing]] = dataclasses.field(default_factory=list)
    differences: list[Difference] = dataclasses.field(default_factory=list)
    not_asked: dict[str, int] = dataclasses.field(default_factory=dict)  # how many requests, of what it cannot answer

    @property
    def good(self) -> bool:
        """Whether every setup serves and answers as the reference does."""
        return not self.failed and not self.differences


def check(
    names: Sequence[str],
    on_setup: Callable[[Setup], None],
    application: Application | None = None,
    requests: Sequence[Request] = REQUESTS,
) -> Check:
    """Compares the answers of the setups of these names, of all where none is named.

    The reference is started first, even where it is not named. Without an application the sample project is asked.
    ``on_setup`` is told of each setup before it is started. Raises UserError, also for a setup that was named and that
    this machine cannot start; one that was not named is skipped.
    """
    application = application or sample()
    requests = application.addressed(requests)
    result = Check(requests)
    chosen = _served(setups.find(names), application, bool(names), result)
    if not application.own:
        chosen.sort(key=lambda setup: setup.name != REFERENCE)
        if chosen[0].name != REFERENCE:
            chosen = [*setups.find([REFERENCE]), *chosen]
    application.prepare()
    env = {"CORES": cores.allot(os.environ.get("CORES")).servers_list}
    expected: dict[str, Answer | str] = {}
    for setup in chosen:
        on_setup(setup)
        try:
            with serving(setup, env, setups.host(), setups.port(), application) as running:
                asked = [request for request in requests if _can_answer(setup, application, request)]
                given = answers(running, asked)
        except NotServing as error:
            result.failed.append((setup, error))
            if not expected and not application.own:
                break  # there is nothing to compare with
            continue
        expected = expected or {request.name: answer for request, answer in zip(asked, given, strict=True)}
        theirs = [expected[request.name] for request in asked]
        result.compared.append(setup)
        result.differences += differences(setup.name, asked, theirs, given)
        if len(asked) < len(requests):
            result.not_asked[setup.name] = len(requests) - len(asked)
    return result


def _can_answer(setup: Setup, application: Application, request: Request) -> bool:
    """Whether the setup is to be asked: not the sample's asynchronous views where it says that it cannot run them."""
    return application.own or "async-views" not in setup.cannot or not request.path.startswith("/async/")


def _served(chosen: Sequence[Setup], application: Application, named: bool, result: Check) -> list[Setup]:
    served = []
    for setup in chosen:
        obstacle = application.obstacle(setup)
        if obstacle is None:
            served.append(setup)
        elif named:
            raise UserError(f"{setup.name}: {obstacle}")
        else:
            result.skipped[setup.name] = obstacle
    if not served:
        raise UserError("none of the setups can be started here: " + "; ".join(result.skipped.values()))
    return served


def print_check(
    names: Sequence[str], console: Console, own: Options | None = None, requests: Sequence[Request] = ()
) -> bool:
    """Runs the check, prints what differs and returns whether all is well.

    Without requests the sample project is asked those of the contract, and one of the user's its first page. Raises
    UserError.
    """
    served = project.chosen(own, setups.find(names))
    requests = requests or ((Request("GET /"),) if own else REQUESTS)
    for remark in served.remarks:
        console.print(f"note: {escape(remark)}", soft_wrap=True)
    found = check(names, lambda setup: console.print(f"{setup.name} ...", soft_wrap=True), served.application, requests)
    for name, obstacle in found.skipped.items():
        console.print(f"[yellow]{name}[/] was skipped: {escape(obstacle)}", soft_wrap=True)
    for name, number in found.not_asked.items():
        console.print(f"[yellow]{name}[/] was not asked {number} requests: it cannot run asynchronous views")
    for setup, error in found.failed:
        console.print(f"[bold red]{setup.name}[/]: {escape(str(error))}\n{escape(error.log)}", soft_wrap=True)
    for difference in found.differences:
        request = difference.request
        console.print(
            f"[bold red]{difference.setup}[/]: {escape(request.name)}: {request.method} {escape(request.path)}"
        )
        console.print(f"    {found.compared[0].name} answered {escape(difference.expected)}", soft_wrap=True)
        console.print(f"    {difference.setup} answered {escape(difference.found)}", soft_wrap=True)
    console.print(
        f"{len(requests)} requests to each of {len(found.compared)} setups: {len(found.differences)} differences"
    )
    return found.good
