"""Find and load the user's Django project without changing the project."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from loadtests import files
from loadtests.cleanup import program
from loadtests.errors import UserError, place_of, reason_of
from loadtests.formatting import plural, series
from loadtests.setups import Setup, deployed, environment, interpreters, require_knobs, without_servers
from loadtests.setups.application import overlay
from loadtests.setups.application.base import Application, entry_first, path_of, sample
from loadtests.setups.application.own_websocket import OwnWebsocket, without_value
from loadtests.setups.application.progress import Announce, silent
from loadtests.setups.knobs import SERVERS
from loadtests.setups.variants import HOPLESS, Variant, parse_environment
from loadtests.workload import Request
from loadtests.workload.request import header_pairs
from loadtests.workload.secrets import REPLACED, without_accounts, without_named

ENVIRONMENTS = (".venv", "venv", "env", ".env")  # names of virtual environments, next to manage.py or one folder above
SETTINGS = "DJANGO_SETTINGS_MODULE"
MARK = "of the project: "  # start of the line that introspect.py prints
FACTS = ("python", "django", "debug", "settings", "middleware")  # keys of introspect.py's object that run.json contains
LOADS_WITHIN_S = 120.0  # time limit for loading the project, and for its first answer after a start
PLAIN_ASGI = "plain_asgi:application"
ENV_LINE = re.compile(
    r"""\s*(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?:(["'])(?P<quoted>.*?)\2|(?P<plain>.*?))(?:\s+#.*)?\s*"""
)
ENTRY_POINT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
# Variables that configure supervisor/defaults.sh instead of the project.
SETS_UP_SERVERS = {"PGBOUNCER", "RUN_DIR", "IPC_DIR", "APP_DIR", "WSGI_APP", "ASGI_APP"}


@dataclasses.dataclass(frozen=True)
class Options:
    """The command line options for the user's project. A project with Django's usual layout only needs ``app``."""

    app: Path
    wsgi: str = ""
    asgi: str = ""
    settings: str = ""
    python: Path | None = None
    env_file: Path | None = None
    before: str = ""
    host: str = ""
    header: Sequence[str] = ()
    ticket: str = ""
    websocket: OwnWebsocket | None = None

    def __post_init__(self) -> None:
        Request("ticket", ticket=self.ticket)

    def to_dict(self) -> dict[str, Any]:
        """Return the options for run.json, with absolute paths and without secrets."""
        values = {name: value for name, value in vars(self).items() if value != getattr(Options, name, None)}
        kept = {name: str(value.absolute()) if isinstance(value, Path) else value for name, value in values.items()}
        kept |= {"header": [without_value(one) for one in self.header]} if self.header else {}
        texts = {"before": self.before, "ticket": self.ticket}
        kept |= {name: without_named(without_accounts(text)) for name, text in texts.items() if text}
        return kept if self.websocket is None else {**kept, "websocket": self.websocket.to_dict()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Options:
        """Create the options from values that ``to_dict`` has returned.

        Raises:
            TypeError: If there are unknown values.
            UserError: If the values lack a secret, because run.json doesn't contain secrets.
        """
        options: dict[str, Any] = dict(values)
        for name in {"app", "python", "env_file"} & options.keys():
            options[name] = Path(options[name])
        if "websocket" in options:
            options["websocket"] = OwnWebsocket.from_dict(options["websocket"])
        if any(REPLACED in one for one in options.get("header", ())):
            raise UserError("the run used a secret --header, whose value isn't in the run folder. Start a new run")
        return cls(**options)


@dataclasses.dataclass(frozen=True)
class Found:
    """A loaded project: the application, remarks for the user, and facts for run.json.

    ``environments`` contains the Python version and the packages of each combination of variants.
    """

    application: Application
    remarks: tuple[str, ...]
    facts: dict[str, Any]
    environments: dict[tuple[str, ...], dict[str, Any]] = dataclasses.field(default_factory=dict)

    def with_variant(self, key: tuple[str, ...], other: Found) -> Found:
        """Return a copy that also contains the project in the environment of the variants ``key``."""
        known = {f"{' and '.join(key)}: {remark}" for remark in other.remarks if remark not in self.remarks}
        variants = {**self.application.variants, key: other.application}
        return Found(
            dataclasses.replace(self.application, variants=variants),
            (*self.remarks, *sorted(known)),
            self.facts,
            {**self.environments, key: {name: other.facts[name] for name in ("python", "packages")}},
        )


def chosen(
    options: Options | None,
    setups: Iterable[Setup],
    announce: Announce = silent,
    *,
    requests: Iterable[Request] = (),
    services: bool = False,
) -> Found:
    """Load the user's project, or the sample project if there are no options, in each environment of the setups.

    Args:
        options: The options of the user's project.
        setups: The setups that will serve the project.
        announce: The function that reports slow steps.
        requests: The requests of the load. The page of the first GET request shows whether the project works.
        services: Whether services will be started for the project. If so, no page is requested before the services run.

    Raises:
        UserError: If the project doesn't load, or if a knob in the environment isn't valid. Knobs are checked before
            any code of the project runs.
    """
    require_knobs(os.environ, own=options is not None)
    setups = list(setups)
    plain = [setup for setup in setups if not setup.variant]
    page = next((one.path for one in requests if one.method == "GET"), "/")
    if options is None:
        found = Found(sample(), (), {})
    else:
        announce(f"loading {options.app}")
        found = find(options, plain, services, page)
    for key in dict.fromkeys(setup.variant for setup in setups):
        variants = parse_environment(key)
        if any(one.python and interpreters.missing(one.python) for one in variants):
            continue  # Application.obstacle returns why these setups are left out
        of_sample = options is None and (any(one.folder for one in variants) or key == (HOPLESS,))
        if not key or of_sample:  # the sample project has no other folders and always contains hopless
            continue
        announce(f"loading the project with {' and '.join(key)}")
        if options is None:
            other = sample_with(variants)
        else:
            of_variant = [one for one in setups if one.variant == key]
            others = [] if any(one.file for one in variants) else plain  # their packages may change a deployed server
            other = find(options, [*others, *of_variant], services, page, variants)
        found = found.with_variant(key, other)
    return found


def sample_with(variants: Sequence[Variant]) -> Found:
    """Return the sample project in an environment with these variants.

    Raises:
        UserError: If the environment can't be created.
    """
    python = environment.bin() / "python"
    for version in (one.python for one in variants if one.python):
        python = overlay.on_python(python, version)
    if any(one.package for one in variants):
        python = overlay.make(python, [], (), variants).bin / "python"
    return Found(sample(python.parent), (), {"python": overlay.version(python), "packages": overlay.versions(python)})


def find(
    options: Options,
    setups: Iterable[Setup],
    services: bool = False,
    page: str = "/",
    variants: Sequence[Variant] = (),
) -> Found:
    """Load the project in ``options.app``, with an overlay that contains missing servers and the variants' packages.

    Raises:
        UserError: If a part of the project is missing or doesn't load.
    """
    before, headers = _words(options.before), header_pairs(options.header)
    directory = _directory(options.app)
    env = read_env_file(options.env_file) if options.env_file else {}
    if taken := sorted(env.keys() & SETS_UP_SERVERS):
        raise UserError(f"{options.env_file}: {', '.join(taken)} would configure the servers, not the project")
    own = series(sorted(env.keys() & SERVERS))
    # Write nothing into the project, not even byte code.
    env.setdefault("PYTHONPYCACHEPREFIX", str(files.cache() / "pycache"))
    settings = options.settings or env.get(SETTINGS) or os.environ.get(SETTINGS, "")
    python, remarks = _python(options, directory)
    for folder in (one.folder for one in variants if one.folder):
        directory = _directory(Path(folder))
        of_folder, none_found = _python(options, directory)
        python = python if none_found else of_folder
    for file in (one.file for one in variants if one.file):
        if not directory.is_relative_to(deployed.read(Path(file)).environment.get("APP_DIR", "/")):
            raise UserError(f"{file}: its command starts in its folder. Move the file to {directory}, or above it")
    for version in (one.python for one in variants if one.python):
        python = overlay.on_python(python, version)
    if own:
        remarks.append(f"the servers ignore {own} in {options.env_file}. Set {own} in this command's environment")
    named = {"wsgi": options.wsgi, "asgi": options.asgi}
    for interface, text in named.items():
        if text and not ENTRY_POINT.fullmatch(text):
            raise UserError(f"--{interface} {text}: write module:name, such as mysite.{interface}:application")
    load = functools.partial(_load, directory)
    # the project may lack a database until its setup command has run and its services are running
    works = "check" if before or services else "answer"
    asked = {"manage": "run", **named, "works": works, "page": page, "host": options.host.partition(":")[0]}
    first = load({**env, **({SETTINGS: settings} if settings else {})}, python, asked)
    env |= first["environment"]
    settings = settings or env[SETTINGS]
    if first["path"]:
        env["PYTHONPATH"] = path_of(*first["path"], env.get("PYTHONPATH"), os.environ.get("PYTHONPATH"))
    if count := first["unapplied"]:
        many = f"{plural(count, 'migration')} {'are' if count > 1 else 'is'} not applied"
        remarks.append(f"{many}. Apply migrations with --setup-command 'python manage.py migrate'")
    entry_points = {name: named[name] or first[name] for name in named}
    if not entry_points["asgi"]:
        env["PYTHONPATH"] = entry_first(env)
        entry_points["asgi"] = PLAIN_ASGI
        remarks.append("the project has no ASGI application, so Django's own is served. Pass another one with --asgi")
    extra = ("websockets",) if options.websocket else ()  # Uvicorn needs this package for WebSockets
    servers = overlay.make(python, [setup for setup in setups if not setup.dialect], extra, variants)
    remarks += servers.left_out
    # Load the project again in the environment that will serve it.
    needed = {one.interface.partition("-")[0] for one in setups} or entry_points.keys()
    loaded = {name: entry_points[name] for name in ("wsgi", "asgi") if name in needed}
    served = load({**env, SETTINGS: settings}, servers.bin / "python", loaded)
    facts = {**{name: served[name] for name in FACTS}, **entry_points}
    facts["packages"] = overlay.versions(servers.bin / "python")
    names = {**first["named"], **served["named"]}
    if entry_points["asgi"] == PLAIN_ASGI:
        names.pop("asgi.py", None)
    others = series([f"{file} names {name}" for file, name in names.items() if name != facts["settings"]])
    remarks.insert(0, f"the settings are {facts['settings']}{others and f', but {others}'}")
    if served["ports"]:
        ports = series(list(map(str, served["ports"])))
        remarks.append(f"the project itself opens port {ports}, so its setups can't run side by side")
    if facts["debug"]:
        remarks.append("DEBUG is on, and the run measures the project with DEBUG. Turn DEBUG off in production")
    return Found(
        Application(
            directory=directory,
            wsgi=entry_points["wsgi"],
            asgi=entry_points["asgi"],
            settings=settings,
            bin=servers.bin,
            health=page,
            healthy_within_s=LOADS_WITHIN_S,
            before=before,
            env=env,
            host=options.host or None,
            own=True,
            websocket=options.websocket,
            lifespan=served["lifespan"],
            headers=headers,
            ticket=options.ticket,
            alone=bool(served["ports"]),
            ssl_redirect=served["ssl_redirect"],
            session_cookie=served["session_cookie"],
        ),
        tuple(remarks),
        facts,
    )


def unloaded(options: Options, bin: Path | None = None) -> Found:
    """Return the project with the Python in ``bin``, without running any code of the project.

    Raises:
        UserError: If the folder isn't valid.
    """
    application = dataclasses.replace(
        sample(bin),
        directory=_directory(options.app),
        before=_words(options.before),
        host=options.host or None,
        own=True,
        websocket=options.websocket,
    )
    return Found(application, ("the project was not loaded, so only the real run reports missing parts",), {})


def read_env_file(file: Path) -> dict[str, str]:
    """Read a file of ``NAME=value`` lines, with optional ``export``, quotes and comments.

    Raises:
        UserError: If the file can't be read, or a line has another form. The message contains the line's number.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    found = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = ENV_LINE.fullmatch(line)
        if match is None:
            raise UserError(f"{file}: line {number} is not NAME=value")
        found[match["name"]] = match["quoted"] or match["plain"] or ""
    return found


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise UserError(f"--setup-command {command}: {error}") from None


def _directory(app: Path) -> Path:
    """Return the folder of manage.py: ``app``, or the only folder in ``app`` with this file."""
    if not app.is_dir():
        raise UserError(f"{app} is not a folder. Pass the folder of a Django project with --app")
    if (app / "manage.py").is_file():
        return app.absolute()
    below = sorted(file.parent for file in app.glob("*/manage.py"))
    if len(below) != 1:
        what = f"but one in {', '.join(str(folder) for folder in below)}" if below else "nor in the folders below"
        raise UserError(f"{app}: there is no manage.py in this folder, {what}. Pass the folder that contains manage.py")
    return below[0].absolute()


def _python(options: Options, directory: Path) -> tuple[Path, list[str]]:
    """Return the Python of the project's virtual environment, and a remark if there is no environment."""
    if options.python is not None:
        if not os.access(options.python, os.X_OK) or options.python.is_dir():
            raise UserError(f"--python: {options.python} is not a program. Give the path of a Python interpreter")
        return options.python.absolute(), []
    places = [folder / name for folder in (directory, directory.parent) for name in ENVIRONMENTS]
    if active := os.environ.get("VIRTUAL_ENV"):
        places.insert(0, Path(active))
    for place in places:
        ours = place.resolve() == Path(sys.prefix).resolve() and not files.INSTALLED
        if (place / "bin" / "python").exists() and not ours:
            return (place / "bin" / "python").absolute(), []
    if files.INSTALLED and importlib.util.find_spec("django"):  # check for Django, because the wheel doesn't require it
        return Path(sys.executable), []
    return environment.bin() / "python", [
        "no virtual environment was found next to the project, so it is served with the benchmark's own Python and "
        "Django. Pass another Python with --python"
    ]


def _load(directory: Path, env: dict[str, str], python: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Run introspect.py with this Python and the arguments ``asked``, and return the facts that it prints.

    End the processes that the project has started.
    """
    # Pass the script as text, so that the project's folder, not the script's folder, is the first folder in sys.path.
    script = Path(__file__).with_name("introspect.py").read_text(encoding="utf-8")
    arguments = [f"{name}={text}" for name, text in asked.items() if text]
    inherited = without_servers(program.public_environment(os.environ))
    try:
        ended = program.run([python, "-c", script, *arguments], LOADS_WITHIN_S, directory, {**inherited, **env})
    except subprocess.TimeoutExpired:
        raise UserError(f"{directory}: the project did not load within {LOADS_WITHIN_S:g} s") from None
    if ended.status:
        place = place_of(ended.errors, directory)
        where = f" ({place})" if place else ""
        reason = reason_of(ended.errors)
        missing = re.search(r"No module named '[^'.]+'", reason)  # not a missing part of an installed package
        hint = "; if another Python has this package, pass the path of this Python with --python" if missing else ""
        problem = f"does not load with {python}"
        if "django/test/client.py" in ended.errors:
            problem, hint = f"does not answer GET {asked['page']}", ". Name a page that works with --path"
        raise UserError(f"{directory}: the project {problem}: {reason}{where}{hint}")
    lines = [line for line in ended.printed.splitlines() if line.startswith(MARK)]
    if not lines:
        raise UserError(f"{directory}: the project ends the Python process while it is loading")
    found: dict[str, Any] = json.loads(lines[-1].removeprefix(MARK))
    return found
