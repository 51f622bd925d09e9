"""A Django project of the user's: what it consists of is found, checked by loading it, and never changed."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from loadtests.cleanup import program
from loadtests.errors import UserError, reason_of
from loadtests.records.toml import duration
from loadtests.setups import FETCHING, KNOBS, Setup, require_knobs
from loadtests.setups.application import overlay
from loadtests.setups.application.base import Application, sample
from loadtests.setups.application.own_websocket import OwnWebsocket
from loadtests.setups.application.progress import Announce, silent

ENVIRONMENTS = (".venv", "venv", "env", ".env")  # where people put a virtual environment, beside manage.py or above
ENTRY = Path(__file__).with_name("entry")
MARK = "of the project: "  # what introspect.py begins its line with
LOAD_TIMEOUT = "1m"
ENTRY_POINT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
# What supervisor/defaults.sh takes from the environment; the database's and Redis's addresses are the project's too. So
# are the words for fetching.
SETS_UP_SERVERS = {*KNOBS, "RUN_DIR", "IPC_DIR", "APP_DIR", "WSGI_APP", "ASGI_APP"} - {"REDIS_URL", *FETCHING}


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command line says of the user's project; only ``app`` is needed where the layout is the usual one."""

    app: Path
    wsgi: str = ""
    asgi: str = ""
    settings: str = ""
    python: Path | None = None
    env_file: Path | None = None
    before: str = ""
    host: str = ""
    load_timeout: str = LOAD_TIMEOUT
    websocket: OwnWebsocket | None = None

    def to_dict(self) -> dict[str, Any]:
        """The options as run.json keeps them, to go on with the run; paths are absolute, and what is secret of its
        WebSockets is left out."""
        values = {name: value for name, value in vars(self).items() if value != getattr(Options, name, None)}
        kept = {name: str(value.absolute()) if isinstance(value, Path) else value for name, value in values.items()}
        return kept if self.websocket is None else {**kept, "websocket": self.websocket.to_dict()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Options:
        """The options that ``to_dict`` gave. Raises TypeError for others, and UserError where one was not kept."""
        given: dict[str, Any] = dict(values)
        for name in {"app", "python", "env_file"} & given.keys():
            given[name] = Path(given[name])
        if "websocket" in given:
            given["websocket"] = OwnWebsocket.from_dict(given["websocket"])
        return cls(**given)


@dataclasses.dataclass(frozen=True)
class Found:
    """A project that loads: the application, and what a person should know of it beforehand."""

    application: Application
    remarks: tuple[str, ...]
    facts: dict[str, Any]


def chosen(options: Options | None, setups: Iterable[Setup], told: Announce = silent) -> Found:
    """What is to be served: the user's project, or the sample where there are no options.

    ``told`` is told of the loading, which may take its time.
    Raises UserError, also for a knob of the environment that makes no sense: before anything of the project is run.
    """
    require_knobs(os.environ, own=options is not None)
    if options is None:
        return Found(sample(), (), {})
    told(f"loading {options.app}")
    return find(options, setups)


def find(options: Options, setups: Iterable[Setup]) -> Found:
    """The project in ``options.app``, ready to be served by the setups: servers that it lacks are put in an overlay.

    Raises UserError for what is missing or does not load, in one line.
    """
    before = _words(options.before)
    within_s = _load_timeout(options.load_timeout)
    directory = _directory(options.app)
    env = read_env_file(options.env_file) if options.env_file else {}
    if taken := sorted(env.keys() & SETS_UP_SERVERS):
        raise UserError(f"{options.env_file}: {', '.join(taken)} would set up the servers and not the project")
    # Nothing is written into the project, and byte code is no exception.
    env.setdefault("PYTHONPYCACHEPREFIX", str(overlay.cache() / "pycache"))
    settings = options.settings or env.get("DJANGO_SETTINGS_MODULE") or _settings(directory)
    python, remarks = _python(options, directory)
    given = {"wsgi": options.wsgi, "asgi": options.asgi}
    for interface, text in given.items():
        if text and not ENTRY_POINT.fullmatch(text):
            raise UserError(f"--{interface} {text}: write module:name, such as mysite.{interface}:application")
    facts = _load(python, directory, settings, env, given, within_s)
    entry_points = {name: given[name] or facts[name] or _beside(directory, settings, name) for name in given}
    if not entry_points["asgi"]:
        env["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(ENTRY), env.get("PYTHONPATH"), os.environ.get("PYTHONPATH")])
        )
        entry_points["asgi"] = "plain_asgi:application"
        remarks.append("the project has no ASGI application: Django's own is served; name another with --asgi")
    made = overlay.make(python, [setup for setup in setups if not setup.dialect], _besides(options))
    remarks += made.left_out
    # Again, and now as it will be served.
    facts.update(_load(made.bin / "python", directory, settings, env, entry_points, within_s))
    facts.update(entry_points, packages=overlay.versions(made.bin / "python"))
    if facts["debug"]:
        remarks.append("DEBUG is on: it is measured as it is, but nobody should serve it so")
    return Found(
        Application(
            directory=directory,
            wsgi=entry_points["wsgi"],
            asgi=entry_points["asgi"],
            settings=settings,
            bin=made.bin,
            health="/",
            healthy_within_s=within_s,
            before=before,
            env=env,
            host=options.host or None,
            own=True,
            websocket=options.websocket,
        ),
        tuple(remarks),
        facts,
    )


def unloaded(options: Options) -> Found:
    """The project as far as it is known without running anything of it: where it is. Raises UserError."""
    application = dataclasses.replace(
        sample(),
        directory=_directory(options.app),
        before=_words(options.before),
        host=options.host or None,
        own=True,
        websocket=options.websocket,
    )
    return Found(application, ("the project was not loaded: what it lacks for a setup shows when it runs",), {})


def read_env_file(file: Path) -> dict[str, str]:
    """The variables in a file of ``NAME=value`` lines; ``export``, quotes, comments and empty lines are understood.

    Raises UserError with the line that is none of these.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    found = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = re.fullmatch(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*", line)
        if match is None:
            raise UserError(f"{file}: line {number} is not NAME=value")
        name, value = match.groups()
        if quoted := re.fullmatch(r"""(["'])(.*?)\1(?:\s+#.*)?""", value):
            value = quoted[2]
        else:
            value = re.sub(r"\s+#.*$", "", value)
        found[name] = value
    return found


def _besides(options: Options) -> tuple[str, ...]:
    """What the servers need to speak WebSockets: Uvicorn does without, unless it is asked for."""
    return () if options.websocket is None else ("websockets",)


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise UserError(f"--before {command}: {error}") from None


def _load_timeout(text: str) -> float:
    try:
        return duration(text)
    except UserError as error:
        raise UserError(f"--load-timeout: {error}") from None


def _directory(app: Path) -> Path:
    """Where manage.py is: ``app`` itself, or the one folder below that has it."""
    if not app.is_dir():
        raise UserError(f"{app} is not a folder; --app takes the folder of a Django project")
    if (app / "manage.py").is_file():
        return app.absolute()
    below = sorted(file.parent for file in app.glob("*/manage.py"))
    if len(below) != 1:
        what = f"it is in {', '.join(str(folder) for folder in below)}" if below else "nor is it one folder below"
        raise UserError(f"{app}: there is no manage.py in it; {what}: name the folder that has it")
    return below[0].absolute()


def _settings(directory: Path) -> str:
    """The settings module that manage.py names."""
    text = (directory / "manage.py").read_text(encoding="utf-8", errors="replace")
    match = re.search(r"""DJANGO_SETTINGS_MODULE["']\s*,\s*["']([\w.]+)["']""", text)
    if match is None:
        raise UserError(f"{directory / 'manage.py'} names no settings module; name it with --settings")
    return match[1]


def _python(options: Options, directory: Path) -> tuple[Path, list[str]]:
    """The Python of the project's virtual environment, and a remark where it has none."""
    if options.python is not None:
        if not os.access(options.python, os.X_OK) or options.python.is_dir():
            raise UserError(f"--python {options.python}: is not a program; name the python of a virtual environment")
        return options.python.absolute(), []
    places = [folder / name for folder in (directory, directory.parent) for name in ENVIRONMENTS]
    if active := os.environ.get("VIRTUAL_ENV"):
        places.insert(0, Path(active))
    for place in places:
        if (place / "bin" / "python").exists() and place.resolve() != Path(sys.prefix).resolve():
            return (place / "bin" / "python").absolute(), []
    return Path(sys.executable), [
        "no virtual environment was found beside the project: it is served with the benchmark's own Python and Django; "
        "name another with --python"
    ]


def _beside(directory: Path, settings: str, interface: str) -> str | None:
    """The module beside the settings that startproject makes, where the settings name none."""
    package = settings.split(".")[:-1]
    while package:
        if directory.joinpath(*package, f"{interface}.py").is_file():
            return f"{'.'.join(package)}.{interface}:application"
        package = package[:-1]
    return None


def _load(
    python: Path,
    directory: Path,
    settings: str,
    env: dict[str, str],
    entry_points: dict[str, Any],
    within_s: float,
) -> dict[str, Any]:
    """What the project says of itself when its own Python loads it. What it starts meanwhile is not left running."""
    # As text, so that the folder on its path is the project's and not the script's.
    script = Path(__file__).with_name("introspect.py").read_text(encoding="utf-8")
    wanted = [f"{interface}={text}" for interface, text in entry_points.items() if text]
    environment = {**program.public_environment(os.environ), **env, "DJANGO_SETTINGS_MODULE": settings}
    try:
        ended = program.run([python, "-c", script, *wanted], within_s, directory, environment)
    except subprocess.TimeoutExpired:
        raise UserError(
            f"{directory}: the project was not loaded within {within_s:g} s; a longer limit is --load-timeout 5m"
        ) from None
    if ended.status:
        raise UserError(f"{directory}: the project does not load with {python}: {reason_of(ended.errors)}")
    said_so = [line for line in ended.printed.splitlines() if line.startswith(MARK)]
    if not said_so:
        raise UserError(f"{directory}: the project ends Python while it is loaded")
    found: dict[str, Any] = json.loads(said_so[-1].removeprefix(MARK))
    return found
