"""Read the command that starts a project's server in production, and make the server listen on the run's address.

The command is in a Procfile, in a Dockerfile, or consists of a configuration of Gunicorn or uWSGI.
supervisor/deployed.conf runs it. Everything except the address, the user, files for pids and TLS stays as deployed.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from pathlib import Path

from loadtests.errors import UserError, quoted
from loadtests.workload.secrets import without_accounts, without_named

FILE = re.compile(r"(proc|docker|container)file|\.(py|ini)$", re.IGNORECASE)

_HOST = "--host $BENCH_BIND --port $BENCH_PORT"
# For each server, the short and long options to remove, which have values, and the options to add.
_SERVERS = {
    "gunicorn": ("bpugc", "bind|pid|user|group|config|certfile|keyfile", "--config $DEPLOYED_GUNICORN"),
    "uvicorn": ("", "host|port|uds|fd|ssl-certfile|ssl-keyfile", _HOST),
    "daphne": ("bpue", "bind|port|unix-socket|fd|endpoint", "--bind $BENCH_BIND --port $BENCH_PORT"),
    "hypercorn": (
        "bpug",
        "bind|insecure-bind|quic-bind|pid|user|group|certfile|keyfile",
        "--bind $BENCH_BIND:$BENCH_PORT",
    ),
    "granian": ("", "host|port|uds|pid-file|ssl-certificate|ssl-keyfile", _HOST),
    "uwsgi": (
        "sdH",
        "https?|https?-socket|http-to|socket|uwsgi-socket|daemonize2?|pidfile2?|uid|gid|stats|ini|home|virtualenv|venv",
        "--die-on-term",
    ),
    "waitress": ("", "host|port|listen|unix-socket", "--listen=$BENCH_BIND:$BENCH_PORT"),
}
# The start of a server, with its folder, or with a runner that would use another environment.
_START = re.compile(
    r"(?:(?<=[\s'\"(;&|])|^)(?:(?:uv|poetry|pipenv|pdm)\s+run\s+(?:-\S+\s+)*)?(?:[^\s'\"]*python[\d.]*\s+-m\s+)?"
    rf"(?:[^\s'\"=]*/)?({'|'.join(_SERVERS)})(?:-serve)?(?![^\s'\"])"
)
_VALUE = r"""(?:"[^"]*"|'[^']*'|\$\{[^}]*\}|[^\s"'&|;])+"""
_INI = r"\s([^\s'\"=]+\.ini)(?![^\s'\"])"
_CONFIG = re.compile(rf"\s(?:--config|--ini|-c)(?:=|\s+)({_VALUE})|{_INI}")
_SETTING = re.compile(
    r"^\s*((?:workers|processes|threads|worker[-_]\w+|timeout|keepalive|preload_app|max[-_]requests\w*|gevent|cheaper"
    r"|harakiri|lazy-apps)\s*=\s*.*\S)",
    re.MULTILINE,
)


@dataclasses.dataclass(frozen=True)
class Deployed:
    """A deployed command.

    Args:
        setup: The name of the setup that serves the project in the same way.
        text: The command in the file, and the settings in the server's configuration, without secrets.
        environment: The environment variables for supervisor/deployed.conf.
    """

    setup: str
    text: str
    environment: dict[str, str] = dataclasses.field(hash=False)


def read(file: Path) -> Deployed:
    """Read the command in a file, or create the command that uses a configuration.

    Raises:
        UserError: If a file can't be read, or the command doesn't start a known server.
    """
    text, folder = _text(file), {}
    is_config = file.suffix in (".py", ".ini")
    if is_config:
        command = f"gunicorn --config {file.name}" if file.suffix == ".py" else f"uwsgi --ini {file.name}"
    elif "procfile" in file.name.lower():
        command = "".join(re.findall(r"(?m)^web:\s*(.*\S)", text)[:1])
        folder = {"APP_DIR": str(file.parent)}  # a Procfile's commands start in its folder
    else:
        command = _dockerfile_command(text)
    start = _START.search(command)
    if start is None:
        allowed = f"must start {', '.join(_SERVERS)}, not {quoted(command)}"
        raise UserError(f"{file}: the command {allowed}. If a script starts the server, write a Procfile")
    server, after = start[1], command[start.end() :]
    options = re.split(r"[&|;\n]", after, maxsplit=1)[0]
    path = _config(server, options, file)
    config = re.sub(r"(?m)^\s*[#;].*$", "", _text(path)) if path else ""
    short, long, added = _SERVERS[server]
    dropped = rf"(?<=\s)(?:(?:--(?:{long})(?:=|\s+)|-[{short}!]\s*){_VALUE}|(?:--daemon|-D)(?![^\s'\"]))"
    kept = re.sub(dropped, "", options)
    setup = _setup(server, f"{kept}\n{config}")
    if is_config:
        has_app = re.search(r"(?m)^\s*(wsgi_app|module|wsgi|wsgi-file|mount)\s*=", config)
        app = "$ASGI_APP" if setup in ("gunicorn-uvicorn", "gunicorn-asgi") else "$WSGI_APP"
        kept = "" if has_app else f" --module {app}" if server == "uwsgi" else f" {app}"
    given = str(path or "")
    if server == "uwsgi":
        socket = "http-socket" if re.search(r"http-socket[\s=]", options + config) else "http"
        added += f" --{socket} $BENCH_BIND:$BENCH_PORT" + (r" --ini exec://printenv\ DEPLOYED_CONFIG" if path else "")
        kept = re.sub(_INI, "", kept)
        given = re.sub(rf"(?m)^\s*({long})\s*=.*$", "", config)
    program = "waitress-serve" if server == "waitress" else server
    run = f"{command[: start.start()]}{program} {added}{kept}{after[len(options) :]}"
    shown = without_named(without_accounts("; ".join([command, *_SETTING.findall(config)])))
    return Deployed(setup, shown, {"DEPLOYED_COMMAND": run, "DEPLOYED_CONFIG": given, **folder})


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _dockerfile_command(text: str) -> str:
    """Return the last ENTRYPOINT if it starts a server, with CMD as its arguments, or else the last CMD."""
    lines = re.sub(r"\\\s*\n", " ", re.sub(r"(?m)^\s*#.*\n", "", text))
    found = {word.upper(): value for word, value in re.findall(r"(?im)^\s*(CMD|ENTRYPOINT)\s+(.*\S)", lines)}
    entrypoint, command = found.get("ENTRYPOINT", ""), _shell(found.get("CMD", ""))
    if _START.search(_shell(entrypoint)):
        return f"{_shell(entrypoint)} {command}".rstrip() if entrypoint.startswith("[") else entrypoint
    return command


def _shell(value: str) -> str:
    """Return a command in JSON or shell form as a text for sh."""
    try:
        words = [str(word) for word in json.loads(value)]
    except ValueError:
        return value
    is_shell = len(words) > 2 and re.fullmatch(r"(/bin/)?(ba)?sh", words[0]) and words[1] == "-c"
    return words[2] if is_shell else shlex.join(words)


def _config(server: str, options: str, file: Path) -> Path | None:
    """Return the path of the configuration of Gunicorn or uWSGI. A container's paths don't exist on this machine."""
    if server not in ("gunicorn", "uwsgi"):
        return None
    match = _CONFIG.search(options)
    given = (match[1] or match[2]).strip("'\"").removeprefix("file:") if match else "gunicorn.conf.py"
    if given.startswith("python:"):
        given = f"{given.removeprefix('python:').replace('.', '/')}.py"
    parts = Path(given).parts
    places = [file.parent.joinpath(*parts[first:]) for first in range(len(parts))]
    usual = places[0] if match else None
    return next((place for place in places if place.is_file() and (match or server == "gunicorn")), usual)


def _setup(server: str, settings: str) -> str:
    """Return the setup for a server with these options and settings."""

    def kind(pattern: str) -> str:
        match = re.search(pattern, settings)
        return match[1] if match else ""

    threads = kind(r"(?<!enable-)(threads)[\s=]+(?!1\b)\S")
    kinds = {
        "gunicorn": kind(r"(?:\s-k|worker[-_]class)[\s=\"']*[\w.:]*?(uvicorn|asgi|gevent|gthread)")
        or ("gthread" if threads else ""),
        "granian": kind(r"interface[\s=]+(wsgi)") or "asgi",
        "uwsgi": kind("(gevent)") or threads,
    }
    return f"{server}-{kinds.get(server, '')}".rstrip("-")
