"""Read the settings of all setups' servers from supervisor/, by concern, for "Fairness" in docs/setups.rst."""

from __future__ import annotations

import configparser
import dataclasses
import re
import shlex
from collections.abc import Iterable, Iterator

from loadtests.files import SUPERVISOR
from loadtests.setups import Setup


@dataclasses.dataclass(frozen=True)
class Concern:
    """A topic of settings: the reason for their values, and their names, with the program's name if necessary."""

    title: str
    why: str
    names: str


CONCERNS = (
    Concern(
        "Backlog",
        "Connections that the kernel holds until the server accepts them. ``defaults.sh`` sets ``BACKLOG`` to 2048 "
        "for all servers, or to the kernel's limit if that is lower. Granian has a socket, and so a backlog, for "
        "each worker. Caddy has no setting, and uses the kernel's limit.",
        "--backlog --endpoint --listen --server-backlog --daemon-backlog socket_backlog backlog listen",
    ),
    Concern(
        "Connections that stay open",
        "An idle connection stays open for ``KEEP_ALIVE`` seconds, for any number of requests. Gunicorn's sync "
        "worker closes each connection after its answer. Daphne keeps connections for 60 seconds, without a "
        "setting, so this is the default. Waitress checks for idle connections only every 30 seconds. Granian's "
        "setting is the time to wait for the headers of the next request, in milliseconds. uWSGI and Waitress close "
        "the connection after an answer of unknown length, such as a stream. nginx keeps its connections to the "
        "server for a shorter time than the server, so that it doesn't use a connection that is being closed. Caddy "
        "closes an idle connection after 30 seconds, without a setting.",
        "--keep-alive --timeout-keep-alive --http-keepalive --http1-header-read-timeout --keep-alive-timeout "
        "channel_timeout keep_alive_max_requests MaxKeepAliveRequests keepalive keepalive_timeout "
        "keepalive_requests",
    ),
    Concern(
        "Processes and threads",
        "``WORKERS`` and ``THREADS``, with each server's option names. Without ``THREADS``, a setup doesn't use "
        "it: a sync or gevent worker has one thread, and under ASGI Django uses as many threads as requests "
        "need. nginx has a worker for each CPU that the setup may use, and Apache has four processes for clients. "
        "Neither runs Django.",
        "--workers --threads --processes --worker-class --blocking-threads --enable-threads --gevent "
        "--gevent-early-monkey-patch --master numprocs threads worker_processes StartServers ServerLimit "
        "ThreadLimit ThreadsPerChild MinSpareThreads MaxSpareThreads --interface",
    ),
    Concern(
        "Clients at a time",
        "The number of connections that a server accepts before other clients wait. It is a thousand if the server "
        "has such a setting. nginx needs two descriptors for each request in flight.",
        "--worker-connections connection_limit asyncore_use_poll MaxRequestWorkers worker_connections "
        "worker_rlimit_nofile",
    ),
    Concern(
        "Event loop and parser",
        "The compiled event loop and HTTP parser, if the server supports them, as its documentation advises. "
        "Uvicorn parses with httptools, Gunicorn's ASGI worker with its parser in Python, Hypercorn with h11, "
        "Granian with hyper and Daphne with Twisted. ``HTTP_PARSER`` selects the other parser of Uvicorn and "
        "Gunicorn. Gunicorn's compiled parser is published as source code (see below).",
        "uvicorn--http --loop --asgi-loop http_parser --runtime",
    ),
    Concern(
        "Lifespan, and when Django is loaded",
        "Django doesn't implement ASGI's lifespan protocol, so it is switched off in servers that try it. Every "
        "worker loads Django separately: options that load it once before the fork, to save memory, are off.",
        "--lifespan --asgi-lifespan --lazy-apps --need-app --single-interpreter --module --application-type "
        "--callable-object --server-type --app",
    ),
    Concern(
        "Requests: sizes, bodies, unusual paths",
        "Servers must not refuse requests that other servers leave to Django. By default, nginx and Waitress read a "
        "whole request before they pass it on, and nginx buffers the answers of the server.",
        "--buffer-size --limit-request-body client_max_body_size --map-head-to-get --chunked-request "
        "AllowEncodedSlashes --no-ws proxy_pass proxy_http_version proxy_set_header proxy_redirect default "
        "--forwarded-allow-ips",
    ),
    Concern(
        "HTTP/2",
        "For a client that negotiates it over TLS (``TLS=1``), on servers that support it. Gunicorn's sync worker "
        "doesn't support it, so the files of Gunicorn's other workers contain the setting.",
        "http_protocols",
    ),
    Concern(
        "WebSockets",
        "A ping after 20 seconds, with 20 seconds for the answer, if the server has such settings. Granian has no "
        "heartbeat, Hypercorn doesn't check for the answer, and Action Cable's heartbeat takes three seconds. "
        "python-socketio has its own heartbeat, so Uvicorn's is off in that setup. The heartbeats of ws and "
        "socket.io are set in ``peers/``. The size limit of a message keeps its default (:ref:`page-peers`), and so "
        "does compression, which is only used if a test asks for it. Uvicorn has two implementations. The setup "
        "names one.",
        "--ws --ws-ping-interval --ws-ping-timeout --ping-interval --ping-timeout --websocket-ping-interval --redis "
        "--environment",
    ),
    Concern(
        "Logs",
        "No server logs successful requests. Django logs errors in the same way in all setups.",
        "-v --quiet --no-access-log --log-level --disable-logging --log-to-terminal access_log error_log",
    ),
    Concern(
        "Restarts and stopping",
        "No server restarts a worker because a file changed, or after a number of requests unless ``MAX_REQUESTS`` "
        "is set. This is the default of most servers. Uvicorn and uWSGI read the number from the environment. All "
        "servers give requests in flight three seconds when they stop, and supervisor ends the remaining processes "
        "after five.",
        "--graceful-timeout --timeout-graceful-shutdown --workers-kill-timeout --worker-reload-mercy "
        "--shutdown-timeout --die-on-term --disable-reloading max_requests max_requests_jitter",
    ),
    Concern(
        "Its address and files",
        "The program that clients connect to listens on ``BIND`` and ``PORT``, and the programs behind it on Unix "
        "sockets. Files are in ``RUN_DIR``, in memory. Gunicorn gets a configuration file of this project, because "
        "otherwise it would read the file of the served project.",
        "--bind --host --port uwsgi--http --fd --uds --socket --http-to --worker-tmp-dir control_socket_disable "
        "--config --vacuum --strict --working-directory --server-root --include-file --locale daemon pid "
        "client_body_temp_path proxy_temp_path fastcgi_temp_path uwsgi_temp_path scgi_temp_path server sockets",
    ),
)


@dataclasses.dataclass(frozen=True)
class Setting:
    """A program's setting; the value may be empty."""

    program: str
    name: str
    value: str

    @property
    def shown(self) -> str:
        """The text in the table."""
        return f"{self.name} {self.value}".strip()


def concern(setting: Setting) -> Concern:
    """Return the setting's concern.

    Raises:
        LookupError: If no concern contains the setting.
    """
    for found in CONCERNS:
        if {setting.name, setting.program + setting.name} & set(found.names.split()):
            return found
    raise LookupError(
        f"{setting.program} {setting.shown}: add it to a concern, with the reason, in docs/_ext/setup_settings.py"
    )


def settings(setup: Setup) -> Iterator[Setting]:
    """Yield all settings of the setup's programs, from its file and from the files that its commands name."""
    config = configparser.RawConfigParser(inline_comment_prefixes=(";",))
    config.read(setup.file, encoding="utf-8")
    for section in config.sections():
        if "command" not in config[section]:
            continue
        words = shlex.split(plain(config[section]["command"]))[3:]  # without taskset -c CORES
        yield from options(words)
        for key in ("numprocs", "socket_backlog"):
            if key in config[section]:
                yield Setting("supervisor", key, plain(config[section][key]))
        for file in re.findall(r"supervisor/([\w.]+)", " ".join(words)):
            yield from settings_in((SUPERVISOR / file).read_text(encoding="utf-8"), file)


def plain(text: str) -> str:
    """Return a value without supervisor's markup: WORKERS for ``%(ENV_WORKERS)s``."""
    text = text.replace("%(here)s/../../", "").replace("%(here)s/..", "supervisor")
    return re.sub(r"%\(ENV_(BENCH_)?(\w+)\)s", r"\2", text)


def options(words: list[str]) -> Iterator[Setting]:
    """Yield the options of a command line with their values, without the application at the end."""
    program, *rest = words
    for at, word in enumerate(rest):
        if word.startswith("-"):
            name, _, value = word.partition("=")
            following = rest[at + 1 : at + 2]
            if following and not following[0].startswith("-") and (at + 2 < len(rest) or name == "--include-file"):
                value = following[0]
            yield Setting(program, name, value)


def settings_in(text: str, file: str) -> Iterator[Setting]:
    """Yield the settings in a server's own file."""
    lines = text.replace("\\\n", " ").splitlines()
    if file.endswith(".sh"):
        for line in lines:
            if line.startswith("exec $become"):
                # The command is mod_wsgi-express start-server MODULE OPTIONS.
                yield from options(shlex.split(line)[2:])
        lines = heredoc(lines)
        pattern = r"\s*(?P<name>[A-Za-z_]\w*)\s+(?P<value>[^{]*?);?(\s+#.*)?"
    else:
        pattern = r"(    )?(?P<name>[a-z]\w+)\s?=\s?(?P<value>.*?),?"
    for line in lines:
        if found := re.fullmatch(pattern, line):
            yield Setting(file, found["name"], found["value"])


def heredoc(lines: Iterable[str]) -> list[str]:
    """Return the lines between <<CONF and CONF."""
    inside, found = False, []
    for line in lines:
        if line == "CONF":
            inside = False
        if inside:
            found.append(line)
        if line.endswith("<<CONF"):
            inside = True
    return found


def tables(setups: Iterable[Setup]) -> dict[Concern, dict[str, list[str]]]:
    """Return the settings of each concern, with the names of the setups that have them."""
    found: dict[Concern, dict[str, list[str]]] = {each: {} for each in CONCERNS}
    for setup in setups:
        for setting in settings(setup):
            names = found[concern(setting)].setdefault(setting.shown, [])
            if setup.name not in names:
                names.append(setup.name)
    return found
