"""Describe the Django project that the setups serve, and its environment."""

from __future__ import annotations

import dataclasses
import os
import shlex
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from loadtests import files, setups
from loadtests.cleanup import program
from loadtests.errors import UserError, reason_of
from loadtests.setups import WEBSOCKET, Setup, environment, interpreters, other_stacks
from loadtests.setups.application.own_websocket import OwnWebsocket
from loadtests.setups.variants import parse_environment
from loadtests.workload import Load, Request
from loadtests.workload.request import TICKET

PREPARED_WITHIN_S = 600.0
ENTRY = Path(__file__).with_name("entry")  # the benchmark's entry points, which servers find through PYTHONPATH
ASYNCHRONOUS = "/async/"  # prefix of the paths of the sample project's asynchronous views


class RemoteHost(Protocol):
    """Another host that serves the sample project."""

    def missing_for(self, setup: Setup) -> str | None:
        """Return the software that the host lacks for the setup, or None if all software is installed."""

    def prepare_sample(self) -> None:
        """Run ``Application.prepare`` on the host.

        Raises:
            UserError: If the command fails.
        """


@dataclasses.dataclass(frozen=True)
class Application:
    """A Django project that the setups serve.

    Args:
        directory: The working directory of the servers.
        wsgi: The WSGI entry point (``module:name``).
        asgi: The ASGI entry point (``module:name``).
        settings: The settings module.
        bin: The folder with the project's Python and the servers' commands.
        health: The path of a page that works when a server has started.
        healthy_within_s: The maximum time in seconds until ``health`` works.
        before: A command that runs once before the project is served.
        env: The environment variables of all the project's processes.
        host: The Host header of requests, or None for the default.
        own: Whether this is the user's own project. Otherwise, it is the sample project.
        websocket: The WebSockets of the user's project.
        lifespan: Whether the ASGI application needs the lifespan protocol.
        headers: Headers that are added to each request without a header of the same name.
        ticket: ``Request.ticket`` of requests with ``$TICKET`` in the path.
        ssl_redirect: Whether SECURE_SSL_REDIRECT is on.
        session_cookie: The name of the session cookie, or empty if the project has no sessions.
        alone: Whether only one setup of the project can run at the same time.
        writes_settings: Whether the servers write their effective settings to a file (entry/with_settings.py).
        variants: The same project in other environments or checkouts, by ``Setup.variant``.
        remote: The other host that serves the sample project, or None. The agent on that host finds the project's
            directory and adds the environment variables.
    """

    directory: Path
    wsgi: str | None
    asgi: str | None
    settings: str
    bin: Path
    health: str
    healthy_within_s: float = 20.0
    before: tuple[str, ...] = ()
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    host: str | None = None
    own: bool = False
    websocket: OwnWebsocket | None = None
    lifespan: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    ticket: str = ""
    ssl_redirect: bool = False
    session_cookie: str = "sessionid"
    alone: bool = False
    writes_settings: bool = False
    variants: Mapping[tuple[str, ...], Application] = dataclasses.field(default_factory=dict)
    remote: RemoteHost | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that supervisor/conf.d uses, and the project's own variables."""
        if self.remote:
            return {}
        given = {
            "APP_DIR": str(self.directory),
            "WSGI_APP": self.wsgi,
            "ASGI_APP": self.asgi,
            "DJANGO_SETTINGS_MODULE": self.settings,
            "PATH": os.pathsep.join([str(self.bin), str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        }
        given |= {"BENCH_LIFESPAN": "on" if self.lifespan else ""}
        return {**self.env, **{name: value for name, value in given.items() if value}}

    def served_by(self, setup: Setup) -> Application:
        """Return the application in the environment of the setup's variants."""
        return self.variants.get(setup.variant, self)

    def environment_for(self, setup: Setup) -> dict[str, str]:
        """Return the environment variables for a setup.

        A setup with hopless serves the sample project through testproject/testproject/hops.py, and the user's project
        through entry/with_hopless.py.
        """
        served = self.served_by(setup)
        env = served.environment
        if setup.hopless and not self.own:
            env["HOPLESS"] = "1"
        elif setup.hopless:
            env |= {"SERVED_WITH_HOPLESS": served.asgi or "", "PYTHONPATH": entry_first(env)}
            env["ASGI_APP"] = "with_hopless:application"
        app = "WSGI_APP" if setup.interface == "wsgi" else "ASGI_APP"
        if self.writes_settings:
            env |= {"SERVED_WITH_SETTINGS": env.get(app, ""), app: "with_settings:application"}
            env["PYTHONPATH"] = entry_first(served.environment)
        module = env.get(app, "").partition(":")[0]
        if "granian" in setup.needs and (ENTRY / f"{module}.py").is_file():
            env[app] = str(ENTRY / env[app])  # with only the module's name, Granian would search APP_DIR for a package
        return {**env, **(setup.deployed.environment if setup.deployed else {})}

    def obstacle(self, setup: Setup) -> str | None:
        """Return why the setup can't serve the project on its host, or None if it can."""
        if self.remote and setup.stack:
            return f"the stack of {setup.stack} has known vulnerabilities and is only served on the local machine"
        served = self.served_by(setup)
        for variant in parse_environment(setup.variant):
            if why := setup.unfit(variant):
                return why
            if variant.python and (lacks := interpreters.missing(variant.python)):
                return lacks
            if (variant.folder or variant.file) and not self.own:
                what = "another checkout" if variant.folder else "a deployed command"
                return f"only your own project can have {what}. Pass the project's folder with --app"
        if self.remote:
            return self.remote.missing_for(setup)
        if setup.deployed and setup.hopless:
            return "hopless can't change a deployed command"
        if self.own and setup.answers:
            return f"it only serves the project of {setup.stack or setup.name}"
        if self.own and setup.dialect:
            return "it only serves the WebSockets of the sample project and of its peers"
        if self.own and setup.interface == "asgi-layer":
            return "it needs the sample project's channel layer settings"
        lifespan = {"lifespan"} if served.lifespan and setup.interface == "asgi" else set()
        if why := setup.refuses({"forwarded", *lifespan} if self.forwarded else lifespan):
            return why
        if not (served.wsgi if setup.interface == "wsgi" else served.asgi):
            return (
                f"the project has no {setup.interface.upper()} application. "
                f"Pass an entry point with --{setup.interface}"
            )
        if (lacks := setups.missing(setup, served.bin)) is not None:
            return lacks
        return other_stacks.obstacle(setup.stack) if setup.stack else None

    def refused(self, setup: Setup, demands: Collection[str], requests: Sequence[Request] = ()) -> str | None:
        """Return why the setup can't serve these requests, or None if it can.

        Args:
            setup: The setup that would serve the requests.
            demands: The features that the test needs (words of ``loadtests.setups.CANNOT``).
            requests: The requests of the load.
        """
        if setup.answers and any(one.method != "GET" or one.path not in setup.answers for one in requests):
            return f"the project of {setup.stack or setup.name} answers only GET {' and GET '.join(setup.answers)}"
        asynchronous = not self.own and any(request.path.startswith(ASYNCHRONOUS) for request in requests)
        all_demands = {*demands, *(["async-views"] if asynchronous else [])}
        if self.own and WEBSOCKET in all_demands:
            if setup.interface != "asgi":
                return "it serves WSGI, which has no WebSockets"
            return setup.refuses({WEBSOCKET}) if WEBSOCKET in setup.cannot else None
        return setup.refuses(all_demands)

    def with_script(self, load: Load) -> Load:
        """Add the user's script to a load over the WebSockets of the user's project. Return other loads unchanged.

        Raises:
            UserError: If the user's project has no script.
        """
        if load.conversation is None or not self.own:
            return load
        if self.websocket is None:
            raise UserError("it uses WebSockets. Add --ws-path and --ws-send")
        conversation = self.websocket.scripted(load.conversation)
        requests = self.addressed([self.websocket.request(self.host)])
        return dataclasses.replace(load, requests=requests, conversation=conversation)

    @property
    def forwarded(self) -> bool:
        """Whether the added headers contain a header of a proxy."""
        return any(name.lower().startswith(("x-forwarded-", "forwarded")) for name, _ in self.headers)

    def addressed(self, requests: Sequence[Request]) -> tuple[Request, ...]:
        """Add the project's host, headers and ticket to requests. A request's own header replaces an added header."""
        added = ((("Host", self.host),) if self.host else ()) + self.headers

        def complete(request: Request) -> Request:
            own = {name.lower() for name, _ in request.headers}
            missing = tuple((name, value) for name, value in added if name.lower() not in own)
            ticket = self.ticket if TICKET in request.path else ""
            return dataclasses.replace(request, headers=(*missing, *request.headers), ticket=ticket)

        return tuple(map(complete, requests))

    def prepare(self) -> None:
        """Run ``before`` once in each folder of the project, and end the processes that the command leaves running.

        Raises:
            UserError: If the command fails. The message contains the reason.
        """
        if self.remote:
            self.remote.prepare_sample()
            return
        other_folders = {one.directory: one for one in self.variants.values() if one.directory != self.directory}
        for other in other_folders.values():
            other.prepare()
        if not self.before:
            return
        shown = shlex.join(self.before)
        env = {**setups.without_servers(program.public_environment(os.environ)), **self.environment}
        try:
            ended = program.run(self.before, PREPARED_WITHIN_S, self.directory, env)
        except subprocess.TimeoutExpired:
            raise UserError(f"{shown!r} had not ended after {PREPARED_WITHIN_S:.0f} s") from None
        if ended.status:
            why = reason_of(ended.errors or ended.printed)
            raise UserError(f"{shown!r} failed (exit status {ended.status}): {why}")


def entry_first(env: Mapping[str, str]) -> str:
    """Return a PYTHONPATH with the benchmark's entry points before the PYTHONPATH in ``env`` and in this process."""
    return path_of(str(ENTRY), env.get("PYTHONPATH"), os.environ.get("PYTHONPATH"))


def path_of(*folders: str | None) -> str:
    return os.pathsep.join(filter(None, folders))


def sample(bin: Path | None = None) -> Application:
    """Return the sample project in testproject/ with the Python in ``bin``, by default the benchmark's own Python."""
    return Application(
        directory=files.ROOT / "testproject",
        wsgi="testproject.wsgi:application",
        asgi="testproject.asgi:application",
        settings="testproject.settings.base",
        bin=bin or environment.bin(),
        health="/healthz",
        before=("python", "manage.py", "prepare"),
    )
