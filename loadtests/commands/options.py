"""Define the options that several commands share, including groups of options for the user's own project."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadtests.errors import UserError

if TYPE_CHECKING:
    from loadtests.measure.study_options import OwnJourney
    from loadtests.records.run.run_record import ExpectedWorkers
    from loadtests.setups.application.project import Options
    from loadtests.workload import SignIn

    Own = Options | None
    Login = SignIn | None
    Journey = OwnJourney | None
    Workers = ExpectedWorkers | None
else:
    Own = Login = Journey = Workers = object  # `--help` doesn't need these types, whose modules are slow to import

Command = Callable[..., None]
LENGTH, MACHINES = "Duration and precision", "Other machines"  # panels of `--help`
Text = str | None
Texts = list[str] | None

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Paths = Annotated[Texts, typer.Option("--path", help="Path to request instead of the default paths; may be repeated.")]
WorkloadFile = Annotated[Path | None, typer.Option(help="Workload file with the requests to send.")]
AllowRemote = Annotated[
    bool,
    typer.Option(
        "--allow-remote", help="Allow load on another machine. Ask its owner first.", rich_help_panel=MACHINES
    ),
]
OutputFolder = Annotated[Path | None, typer.Option(help="Run folder to create.")]
Seed = Annotated[int | None, typer.Option(help="Seed for the order of trials.")]
Anyway = Annotated[bool, typer.Option("--ignore-busy", help="Don't ask or stop early on a busy machine.")]
Variants = Annotated[
    Texts,
    typer.Option(
        "--variant",
        help="Also run the setups in another environment: granian==2.7.9, 'Django==6.1.3', python=3.13, hopless, or "
        "with --app the folder of another checkout or a file with your deployed command; may be repeated.",
    ),
]
SetupName = Annotated[str, typer.Argument(help="Name of a setup.")]
Url = Annotated[str, typer.Argument(help="URL, such as http://127.0.0.1:8000/")]

REQUESTS: dict[str, Any] = {
    "method": Annotated[Text, typer.Option(help="HTTP method; GET by default.")],
    "header": Annotated[Texts, typer.Option(help="Header: 'Accept: text/html'; may be repeated.")],
    "body": Annotated[Text, typer.Option(help="Body of the request.")],
    "workload": WorkloadFile,
    "connections": Annotated[
        int | None,
        typer.Option(help="Number of connections, 10 by default. At a rate, the maximum number, 1,000 by default."),
    ],
}
PROJECT: dict[str, Any] = {
    "app": Annotated[Path | None, typer.Option(help="Folder of your Django project, to serve instead of the sample.")],
    "wsgi": Annotated[
        Text, typer.Option(help="The project's WSGI application, if the settings don't name it: mysite.wsgi:app.")
    ],
    "asgi": Annotated[Text, typer.Option(help="The project's ASGI application, if the settings don't name it.")],
    "settings": Annotated[Text, typer.Option(help="The project's settings module, if manage.py doesn't name it.")],
    "python": Annotated[
        Path | None, typer.Option(help="Python of the project's environment, if it isn't in the project's folder.")
    ],
    "env_file": Annotated[Path | None, typer.Option(help="File with NAME=value lines for the project's environment.")],
    "setup_command": Annotated[
        Text, typer.Option(help="Command to run once in the project's folder at the start: 'python manage.py migrate'.")
    ],
    "host_header": Annotated[Text, typer.Option(help="Host header to send, if ALLOWED_HOSTS requires it.")],
    "header": Annotated[
        Texts, typer.Option(help="Header of every request: 'X-Forwarded-Proto: https'; may be repeated.")
    ],
    "ticket": Annotated[
        Text,
        typer.Option(
            help="Request whose answer contains the $TICKET of a WebSocket's or event stream's path: "
            "'POST /tickets/ .ticket'."
        ),
    ],
}
WEBSOCKETS: dict[str, Any] = {
    "ws_path": Annotated[Text, typer.Option(help="Path of the project's WebSocket endpoint: /ws/chat/.")],
    "ws_first": Annotated[
        Texts, typer.Option(help='First message of each connection: \'{"join": "a"}\'; may be repeated.')
    ],
    "ws_send": Annotated[Text, typer.Option(help='Message to send. $ID becomes a unique id: \'{"text": "$ID"}\'.')],
    "ws_match": Annotated[Text, typer.Option(help="Text that a delivered message contains; $ID by default.")],
    "ws_ready": Annotated[
        Text, typer.Option(help="Text of the message that makes a connection ready. Without it, it is ready at once.")
    ],
    "ws_subprotocol": Annotated[Texts, typer.Option(help="Subprotocol to offer, such as a token; may be repeated.")],
}
LOGIN: dict[str, Any] = {
    "login": Annotated[
        Text,
        typer.Option(
            help="Page where users log in: /accounts/login/. Set their password in JOURNEY_PASSWORD. In a journey, you "
            "can set JOURNEY_COOKIE to a cookie instead of this option."
        ),
    ],
    "login_user": Annotated[Text, typer.Option(help="User name for --login.")],
    "login_accounts": Annotated[
        Path | None, typer.Option(help="CSV file with names and passwords for --login. The users take turns.")
    ],
}
JOURNEY: dict[str, Any] = {
    "journey": Annotated[
        Path | None,
        typer.Option(help="Python file with a user's steps. `workload journey` creates it from a recording."),
    ],
    **LOGIN,
}
WORKERS: dict[str, Any] = {
    "expect_workers": Annotated[
        int | None, typer.Option(help="Number of `worker` processes on other machines, which generate the whole load.")
    ],
    "master_bind": Annotated[
        Text,
        typer.Option(help="Address on a private network for the workers: 10.0.0.1:5557; 127.0.0.1:5557 by default."),
    ],
    "expect_workers_max_wait": Annotated[Text, typer.Option(help="Maximum wait for the workers; 5m by default.")],
}
# The output of `--help` is long, so it is divided into panels.
for panel, options in (
    ("Your project", PROJECT), ("Your WebSockets", WEBSOCKETS), ("Your users", JOURNEY), (MACHINES, WORKERS)
):  # fmt: skip
    for annotation in options.values():
        annotation.__metadata__[0].rich_help_panel = panel


def with_options(
    keyword: str, options: dict[str, Any], build: Callable[[dict[str, Any]], Any], needed: tuple[str, str] | None = None
) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command.

    Args:
        keyword: The command's keyword argument for the options.
        options: The options, by name.
        build: A function that converts the options to the argument's value. Without options, the value is None.
        needed: The option that all other options require, and the end of the error message if it is missing.
    """

    def built(chosen: dict[str, Any]) -> Any:
        if chosen and needed and needed[0] not in chosen:
            raise UserError(f"--{next(iter(chosen)).replace('_', '-')} {needed[1]}")
        return build(chosen) if chosen else None

    def decorate(command: Command) -> Command:
        parameters = inspect.signature(command, eval_str=True).parameters.values()
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in options.items()
        ]
        signature = inspect.Signature([*(one for one in parameters if one.name != keyword), *added])

        def wrapped(**values: Any) -> None:
            chosen = {name: values.pop(name) for name in options}
            command(**values, **{keyword: built({k: v for k, v in chosen.items() if v not in (None, [])})})

        wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
        wrapped.__signature__ = signature  # type: ignore[attr-defined]
        wrapped.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
        return wrapped

    return decorate


def _own_project(chosen: dict[str, Any]) -> Own:
    from loadtests.setups.application.project import Options

    websocket = {name.removeprefix("ws_"): chosen.pop(name) for name in WEBSOCKETS.keys() & chosen.keys()}
    if websocket:
        from loadtests.setups.application.own_websocket import OwnWebsocket

        chosen["websocket"] = OwnWebsocket.parse(websocket)
    names = {"host_header": "host", "setup_command": "before"}
    return Options(**{names.get(name, name): value for name, value in chosen.items()})


def _login(chosen: dict[str, Any]) -> Login:
    from loadtests.workload import sign_in

    return sign_in.from_options(**{name.removeprefix("login_"): value for name, value in chosen.items()})


def _own_journey(chosen: dict[str, Any]) -> Journey:
    from loadtests.measure.study_options import OwnJourney

    return OwnJourney(**chosen)


def _expected_workers(chosen: dict[str, Any]) -> Workers:
    from loadtests.measure.clients import expected_workers

    return expected_workers(**chosen)


OF_A_PROJECT = ("app", "only works with your own project. Name its folder with --app")
OF_WORKERS = ("expect_workers", "only works with --expect-workers. Add it with the number of workers")
with_own_project = with_options("own", PROJECT, _own_project, OF_A_PROJECT)
with_own_websockets = with_options("own", {**PROJECT, **WEBSOCKETS}, _own_project, OF_A_PROJECT)
with_requests = with_options("requests", REQUESTS, dict)
with_login = with_options("login", LOGIN, _login)
with_own_journey = with_options("users", JOURNEY, _own_journey)
with_expected_workers = with_options("workers", WORKERS, _expected_workers, OF_WORKERS)


def given(context: typer.Context) -> list[str]:
    """Return the names of all options and arguments on the command line, such as ``--seed`` and ``the study``."""
    names = []
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            argument = parameter.param_type_name == "argument"
            names.append(f"the {parameter.name}" if argument else parameter.opts[0])
    return names
