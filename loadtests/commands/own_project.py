"""The command line's options for a project of the user's: the same on every command that serves one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadtests.errors import UserError

if TYPE_CHECKING:
    from loadtests.application.project import Options

    Own = Options | None
else:
    Own = object  # what reads the project takes time to import, and `--help` does without

PANEL: dict[str, Any] = {
    "app": Annotated[Path | None, typer.Option(help="The folder of a Django project to serve instead of the sample.")],
    "wsgi": Annotated[
        str | None, typer.Option(help="Its WSGI application, if not that of its settings: mysite.wsgi:app.")
    ],
    "asgi": Annotated[str | None, typer.Option(help="Its ASGI application, likewise.")],
    "settings": Annotated[str | None, typer.Option(help="Its settings module, if not the one that manage.py names.")],
    "python": Annotated[Path | None, typer.Option(help="The python of its virtual environment, if not beside it.")],
    "env_file": Annotated[Path | None, typer.Option(help="A file of NAME=value lines for its environment.")],
    "load_timeout": Annotated[str | None, typer.Option(help="How long it may take to load; by default 1m.")],
    "before": Annotated[str | None, typer.Option(help="A command to run in it first: 'python manage.py migrate'.")],
    "host_header": Annotated[
        str | None, typer.Option(help="The Host header to send, where ALLOWED_HOSTS asks for one.")
    ],
}


def with_own_project(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options to a command, which gets them as one keyword ``own``: None where there is no ``--app``."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    signature = inspect.Signature(
        [parameter for parameter in parameters if parameter.name != "own"]
        + [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in PANEL.items()
        ]
    )

    def wrapped(**values: Any) -> None:
        command(**{name: values[name] for name in values.keys() - PANEL.keys()}, own=_options(values))

    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__signature__ = signature  # type: ignore[attr-defined]
    wrapped.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return wrapped


def _options(values: dict[str, Any]) -> Own:
    given = {name: values[name] for name in PANEL if values[name] is not None}
    if not given:
        return None
    if "app" not in given:
        raise UserError(f"--{next(iter(given)).replace('_', '-')} is for a project of your own; name its folder: --app")
    from loadtests.application.project import Options

    if "host_header" in given:
        given["host"] = given.pop("host_header")
    return Options(**given)
