"""The command line's options for a project of the user's: the same on every command that serves one; and those for its
WebSockets, on the commands that talk over them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadtests.errors import UserError

if TYPE_CHECKING:
    from loadtests.setups.application.project import Options

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


WEBSOCKETS: dict[str, Any] = {
    "ws_path": Annotated[str | None, typer.Option(help="Where its WebSockets are: /ws/chat/.")],
    "ws_first": Annotated[
        list[str] | None, typer.Option(help='What each connection says first: \'{"join": "a"}\'; may be repeated.')
    ],
    "ws_send": Annotated[
        str | None, typer.Option(help='What is sent, with $ID for the id of the message: \'{"text": "$ID"}\'.')
    ],
    "ws_match": Annotated[
        str | None, typer.Option(help="What a message has in it that counts as the delivery; by default its $ID.")
    ],
    "ws_ready": Annotated[
        str | None, typer.Option(help="What a message has in it that says that the connection can receive.")
    ],
    "ws_header": Annotated[
        list[str] | None, typer.Option(help="A header of the handshake, 'X-Token: abc'; may be repeated.")
    ],
    "ws_cookie": Annotated[
        list[str] | None, typer.Option(help="A cookie of the handshake, sessionid=abc; may be repeated.")
    ],
    "ws_subprotocol": Annotated[str | None, typer.Option(help="The subprotocol to ask for.")],
}
WS = "ws_"


def with_own_websockets(command: Callable[..., None]) -> Callable[..., None]:
    """As ``with_own_project``, with the options for the project's WebSockets among them."""
    return with_own_project(command, {**PANEL, **WEBSOCKETS})


def with_own_project(command: Callable[..., None], panel: dict[str, Any] = PANEL) -> Callable[..., None]:
    """Adds the options to a command, which gets them as one keyword ``own``: None where there is no ``--app``."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    signature = inspect.Signature(
        [parameter for parameter in parameters if parameter.name != "own"]
        + [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in panel.items()
        ]
    )

    def wrapped(**values: Any) -> None:
        given = {name: values[name] for name in panel if values[name] not in (None, [])}
        command(**{name: values[name] for name in values.keys() - panel.keys()}, own=_options(given))

    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__signature__ = signature  # type: ignore[attr-defined]
    wrapped.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return wrapped


def _options(given: dict[str, Any]) -> Own:
    if not given:
        return None
    if "app" not in given:
        raise UserError(f"--{next(iter(given)).replace('_', '-')} is for a project of your own; name its folder: --app")
    from loadtests.setups.application.project import Options

    talking = {name.removeprefix(WS): given.pop(name) for name in WEBSOCKETS.keys() & given.keys()}
    if talking:
        from loadtests.setups.application.own_websocket import OwnWebsocket

        given["websocket"] = OwnWebsocket.parse(talking)
    if "host_header" in given:
        given["host"] = given.pop("host_header")
    return Options(**given)
