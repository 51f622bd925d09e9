"""The command line's options for a journey of the user's own, and for how its users sign in."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from loadtests.plan.study import Study

STUDY = "own-journey"  # what users of a project are measured in, where nothing else is said
PANEL: dict[str, Any] = {
    "journey": Annotated[
        Path | None,
        typer.Option(help="A file with the journey that users are to walk: shop.py. See `workload journey`."),
    ],
    "login": Annotated[
        str | None,
        typer.Option(
            help="The page that users sign in on first: /accounts/login/. The password comes from the environment: "
            "JOURNEY_PASSWORD. Without this page, a session's cookie may: JOURNEY_COOKIE."
        ),
    ],
    "login_user": Annotated[str | None, typer.Option(help="The user's name that they sign in with.")],
}


class OwnJourney:
    """What the command line says of it."""

    def __init__(self, journey: Path | None, login: str | None, login_user: str | None) -> None:
        self.file = journey
        self._login, self._user = login, login_user

    def __bool__(self) -> bool:
        return any(one is not None for one in (self.file, self._login, self._user))

    def in_study(self, study: Study) -> Study:
        """The study with its users on the journey, and signed in; as it is where nothing was said. Raises UserError."""
        from loadtests.errors import UserError, shown
        from loadtests.workload import sign_in

        if not self:
            return study
        if self.file is not None and (self.file.suffix != ".py" or not os.path.isfile(self.file)):
            name = shown(str(self.file))
            raise UserError(
                f"--journey {name}: a file of Python with a journey is needed; `workload journey` makes one"
            )
        return study.with_journey(self.file, sign_in.asked(self._login, self._user))


def with_own_journey(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options to a command, which gets them as one keyword ``walked``."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    signature = inspect.Signature(
        [parameter for parameter in parameters if parameter.name != "walked"]
        + [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in PANEL.items()
        ]
    )

    def wrapped(**values: Any) -> None:
        command(
            **{name: values[name] for name in values.keys() - PANEL.keys()},
            walked=OwnJourney(**{name: values[name] for name in PANEL}),
        )

    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__signature__ = signature  # type: ignore[attr-defined]
    wrapped.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return wrapped
