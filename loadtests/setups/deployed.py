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
from loadtests.workload.secrets import REPLACED, without_accounts, without_named

FILE = re.compile(r"(proc|docker|container)file|\.(py|ini)$|gunicorn.*\.conf$", re.IGNORECASE)

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
_QUOTED = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`|\$\{[^}]*\}|\$\([^)]*\)|\\"[^"]*"|\\.)"""
_WORD = rf"(?:{_QUOTED}|[^\s\"'&|;])++"
_INI = r"\s([^\s'\"=]+\.ini)(?![^\s'\"])"
_CONFIG = {
    "gunicorn": re.compile(rf"\s(?:--config(?:=|\s+)|-c\s*)({_WORD})"),
    "uwsgi": re.compile(rf"\s--ini(?:=|\s+)({_WORD})|{_INI}"),
}
_RENEWS = re.compile(r"max[-_](?:worker[-_])?(?:requests|lifetime)|workers-(?:lifetime|max-rss)|reload-on-|cheaper")
_SETTING = re.compile(
    r"^\s*((?:workers|processes|threads|worker[-_]\w+|timeout|keepalive|preload_app|max[-_]requests\w*|gevent|cheaper"
    r"|harakiri|lazy-apps)\s*=(?!.*%\()\s*.*\S)",
    re.MULTILINE,
)


@dataclasses.dataclass(frozen=True)
class Deployed:
    """A deployed command.

    Args:
        setup: The name of the setup that serves the project in the same way.
        text: The command in the file, and the settings in the server's configuration, without secrets.
        environment: The environment variables for supervisor/deployed.conf.
        renews: Whether the server replaces its workers after a time or a number of requests.
    """

    setup: str
    text: str
    environment: dict[str, str] = dataclasses.field(hash=False)
    renews: bool


def read(file: Path) -> Deployed:
    """Read the command in a file, or create the command that uses a configuration.

    Raises:
        UserError: If a file can't be read, or the command doesn't start a known server.
    """
    text, folder = _text(file), {}
    is_config = file.suffix in (".py", ".ini", ".conf")
    if is_config:
        command = f"uwsgi --ini {file.name}" if file.suffix == ".ini" else f"gunicorn --config {file.name}"
    elif "procfile" in file.name.lower():
        command = "".join(re.findall(r"(?m)^web:\s*(.*\S)", text)[:1])
        folder = {"APP_DIR": str(file.parent)}  # a Procfile's commands start in its folder
    else:
        command = _dockerfile_command(text)
    start, options = _start(command)
    if start is None:
        # Without the other words, which can be secrets.
        first = re.sub(rf"(?s)^(?:\w+=(?:{_WORD})?\s+)*([\w./-]*).*", r"\1", command)
        allowed = f"must start {', '.join(_SERVERS)}, not {quoted(first)}"
        remedy = "If a script starts the server, write the script's command into a Procfile in the project's folder"
        raise UserError(f"{file}: the command {allowed}. {remedy}")
    server, before, after = start[1], command[: start.start()], command[start.end() + len(options) :]
    path = _config(server, options, file)
    config = re.sub(r"(?m)^\s*[#;].*$", "", _text(path)) if path else ""
    short, long, added = _SERVERS[server]
    kept = re.sub(rf"{_option(short, long)}|(?<=\s)(?:--daemon|-D)(?![^\s'\"])", "", options)
    setup = _setup(server, f"{kept}\n{config}")
    if is_config:
        has_app = re.search(r"(?m)^\s*(wsgi_app|module|wsgi|wsgi-file|mount)\s*=", config)
        app = "$ASGI_APP" if setup in ("gunicorn-uvicorn", "gunicorn-asgi") else "$WSGI_APP"
        kept = "" if has_app else f" --module {app}" if server == "uwsgi" else f" {app}"
    given = str(path or "")
    if server == "uwsgi":
        own = re.search(r"(?m)(?:--|^\s*)(https?(?:-socket)?)[\s=]", f"{options}\n{config}")
        socket = "http-socket" if own and own[1] == "http-socket" else "http"
        added += "" if own else " --http-keepalive=$BENCH_KEEP_ALIVE"  # as in uwsgi.conf, for a server behind nginx
        added += f" --{socket} $BENCH_BIND:$BENCH_PORT" + (r" --ini exec://printenv\ DEPLOYED_CONFIG" if path else "")
        kept = re.sub(_INI, "", kept)
        given = re.sub(rf"(?m)^\s*({long})\s*=.*$", "", config)
    program = "waitress-serve" if server == "waitress" else server
    run = f"{before}{program} {added}{kept}{after}"
    public = re.sub(_option("e", "env|raw-env|ssl-keyfile-password"), rf"\1 {REPLACED}", options).rstrip()
    text = f"{'… ' if before else ''}{start[0]}{public}"  # the other commands' options can be secrets
    shown = without_named(without_accounts("; ".join([text, *_SETTING.findall(config)])))
    renews = bool(_RENEWS.search(f"{options}\n{config}"))
    return Deployed(setup, shown, {"DEPLOYED_COMMAND": run, "DEPLOYED_CONFIG": given, **folder}, renews)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _start(command: str) -> tuple[re.Match[str] | None, str]:
    """Find the last start of a server. Earlier commands can contain the server's name, for example to install it.

    Returns:
        The start, and its options until the shell's next command or until the end of the quotes around the start.
    """
    start, options = None, ""
    while match := _START.search(command, start.end() + len(options) if start else 0):
        start = match
        opened = re.sub(rf"{_QUOTED}|[^\"']", "", command[: start.start()])[:1]
        end = rf"[&|;\n{opened}]"
        rest = re.match(rf"(?:[<>]&|&>|(?!{end})(?:{_QUOTED}|.))*", command[start.end() :])
        options = rest[0] if rest else ""
    return start, options


def _option(short: str, long: str) -> str:
    """Return a pattern for options with their values, in the same word or in the next."""
    return rf"(?<=\s)(?=['\"]?(--(?:{long})(?![^\s=])|-[{short}!]))(?:\1\s+)?{_WORD}"


def _dockerfile_command(text: str) -> str:
    """Return the last ENTRYPOINT with the last CMD as its arguments, or only CMD if ENTRYPOINT starts no server."""
    lines = re.sub(r"\\\s*\n", " ", re.sub(r"(?m)^\s*#.*\n", "", text))
    found = {word.upper(): value for word, value in re.findall(r"(?im)^\s*(CMD|ENTRYPOINT)\s+(.*\S)", lines)}
    entrypoint, command = (_words(found.get(word, "[]")) for word in ("ENTRYPOINT", "CMD"))
    return _shell(entrypoint + command if _START.search(_shell(entrypoint)) else command)


def _words(value: str) -> list[str]:
    """Return the words of a command in JSON or shell form."""
    try:
        words = json.loads(value)
    except ValueError:
        words = None
    return [str(word) for word in words] if isinstance(words, list) else ["sh", "-c", value]


def _shell(words: list[str]) -> str:
    """Return a command as a text for sh."""
    is_shell = len(words) > 2 and re.fullmatch(r"(/bin/)?(ba)?sh", words[0]) and words[1] == "-c"
    return words[2] if is_shell else shlex.join(words)


def _config(server: str, options: str, file: Path) -> Path | None:
    """Return the path of the configuration of Gunicorn or uWSGI. A container's paths don't exist on this machine."""
    if server not in _CONFIG:
        return None
    match = _CONFIG[server].search(options)
    given = next(filter(None, match.groups())).strip("'\"").removeprefix("file:") if match else "gunicorn.conf.py"
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
