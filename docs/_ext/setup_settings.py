"""Read the servers' settings in supervisor/, and group them by topic, for "Fairness" in docs/setups.rst."""

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
    """A topic: a title, the reasons for the values, and the names of the settings.

    If a name is ambiguous, it starts with the name of the program (``uvicorn--http``).
    """

    title: str
    why: str
    names: str


CONCERNS = (
    Concern(
        "Backlog",
        "The number of connections that the kernel holds until the server accepts them. ``defaults.sh`` sets "
        "``BACKLOG`` to 2048 for all servers, or to the kernel's limit if the limit is lower. Each worker of Granian "
        "has its own socket and backlog. Caddy has no such setting, and uses the kernel's limit.",
        "--backlog --endpoint --listen --server-backlog --daemon-backlog socket_backlog backlog listen",
    ),
    Concern(
        "Connections that stay open",
        "An idle connection stays open for ``KEEP_ALIVE`` seconds, for any number of requests. Gunicorn's sync "
        "worker closes each connection after the response. Daphne always keeps idle connections for 60 seconds, so "
        "this is the default. Waitress checks for idle connections only every 30 seconds. Granian's setting is the "
        "time to wait for the headers of the next request, in milliseconds. uWSGI and Waitress close the connection "
        "after a response of unknown length, such as a stream. nginx closes its connections to the server earlier "
        "than the server, so that it doesn't use a connection that is being closed. Caddy always closes an idle "
        "connection after 30 seconds.",
        "--keep-alive --timeout-keep-alive --http-keepalive --http1-header-read-timeout --keep-alive-timeout "
        "channel_timeout keep_alive_max_requests MaxKeepAliveRequests keepalive keepalive_timeout "
        "keepalive_requests",
    ),
    Concern(
        "Processes and threads",
        "The options of each server for ``WORKERS`` and ``THREADS``. Setups without ``THREADS`` in this table don't "
        "use it: a sync or gevent worker has one thread, and under ASGI Django uses as many threads as the requests "
        "need. nginx has a worker for each CPU that the setup may use, and Apache has four processes for clients. "
        "nginx and Apache's processes don't run Django.",
        "--workers --threads --processes --worker-class --blocking-threads --enable-threads --gevent "
        "--gevent-early-monkey-patch --master numprocs threads worker_processes StartServers ServerLimit "
        "ThreadLimit ThreadsPerChild MinSpareThreads MaxSpareThreads --interface",
    ),
    Concern(
        "Simultaneous clients",
        "The number of connections that a server accepts before further clients wait. Servers with such a "
        "setting use a limit of a thousand. nginx needs two file descriptors for each request in flight.",
        "--worker-connections connection_limit asyncore_use_poll MaxRequestWorkers worker_connections "
        "worker_rlimit_nofile",
    ),
    Concern(
        "Event loop and parser",
        "Servers use the compiled event loop and HTTP parser if they support them, as their documentation advises. "
        "Uvicorn parses HTTP with httptools, Gunicorn's ASGI worker with its own parser in Python, Hypercorn with "
        "h11, Granian with hyper and Daphne with Twisted. ``HTTP_PARSER`` selects the other parser of Uvicorn and "
        "Gunicorn. Gunicorn's compiled parser is published only as source code (see below).",
        "uvicorn--http --loop --asgi-loop http_parser --runtime",
    ),
    Concern(
        "Lifespan and loading of Django",
        "Django doesn't implement ASGI's lifespan protocol, so it is disabled in servers that would use it. Every "
        "worker loads Django separately: options that load it once before the fork, to save memory, are off.",
        "--lifespan --asgi-lifespan --lazy-apps --need-app --single-interpreter --module --application-type "
        "--callable-object --server-type --app",
    ),
    Concern(
        "Requests: sizes, bodies, unusual paths",
        "No server may refuse a request that other servers pass to Django. By default, nginx and Waitress read a "
        "whole request before they pass it on, and nginx buffers the server's responses.",
        "--buffer-size --limit-request-body client_max_body_size --map-head-to-get --chunked-request "
        "AllowEncodedSlashes --no-ws proxy_pass proxy_http_version proxy_set_header proxy_redirect default "
        "--forwarded-allow-ips",
    ),
    Concern(
        "HTTP/2",
        "Servers that support HTTP/2 use it for clients that negotiate it over TLS (``TLS=1``). Gunicorn's sync "
        "worker doesn't support HTTP/2, so only the files of Gunicorn's other workers contain the setting.",
        "http_protocols",
    ),
    Concern(
        "WebSockets",
        "Servers with settings for a heartbeat send pings after 20 seconds, and wait 20 seconds for the answer. "
        "Granian sends none, Hypercorn doesn't check for the answer, and the interval of Action Cable's heartbeat is "
        "three seconds. python-socketio has its own heartbeat, so Uvicorn's heartbeat is off in this setup. The "
        "heartbeats of ws and socket.io are set in ``peers/``. The maximum size of a message and the compression keep "
        "their defaults (:ref:`page-peers`). Compression is only used if a test requires it. Uvicorn has two "
        "implementations of WebSockets, and each setup selects one of them.",
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
        "No server restarts a worker because a file changed, or, unless ``MAX_REQUESTS`` is set, after a number of "
        "requests. This is the default of most servers. Uvicorn and uWSGI read the number from the environment. When "
        "a server stops, requests in flight have three seconds to finish, and supervisor kills the remaining "
        "processes after five seconds.",
        "--graceful-timeout --timeout-graceful-shutdown --workers-kill-timeout --worker-reload-mercy "
        "--shutdown-timeout --die-on-term --disable-reloading max_requests max_requests_jitter",
    ),
    Concern(
        "Addresses and files",
        "The program to which clients connect listens on ``BIND`` and ``PORT``, and the programs behind it on Unix "
        "sockets. Files are in ``RUN_DIR``, in memory. Gunicorn reads this project's configuration file, because "
        "otherwise it would read the file of the served project.",
        "--bind --host --port uwsgi--http --fd --uds --socket --http-to --worker-tmp-dir control_socket_disable "
        "--config --vacuum --strict --working-directory --server-root --include-file --locale daemon pid "
        "client_body_temp_path proxy_temp_path fastcgi_temp_path uwsgi_temp_path scgi_temp_path server sockets",
    ),
)


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting of a program. The value may be empty."""

    program: str
    name: str
    value: str

    @property
    def shown(self) -> str:
        """The name and the value, as the table shows them."""
        return f"{self.name} {self.value}".strip()


def concern(setting: Setting) -> Concern:
    """Return the topic of a setting.

    Raises:
        LookupError: If no topic contains the setting.
    """
    for found in CONCERNS:
        if {setting.name, setting.program + setting.name} & set(found.names.split()):
            return found
    raise LookupError(
        f"{setting.program} {setting.shown}: add the setting and its reason to docs/_ext/setup_settings.py"
    )


def settings(setup: Setup) -> Iterator[Setting]:
    """Yield all settings of a setup's programs, from the setup's file and from the files that its commands use."""
    config = configparser.RawConfigParser(inline_comment_prefixes=(";",))
    config.read(setup.file, encoding="utf-8")
    for section in config.sections():
        if "command" not in config[section]:
            continue
        words = shlex.split(plain(config[section]["command"]))[3:]  # the first three words are taskset -c CORES
        yield from options(words)
        for key in ("numprocs", "socket_backlog"):
            if key in config[section]:
                yield Setting("supervisor", key, plain(config[section][key]))
        for file in re.findall(r"supervisor/([\w.]+)", " ".join(words)):
            yield from settings_in((SUPERVISOR / file).read_text(encoding="utf-8"), file)


def plain(text: str) -> str:
    """Return a value without supervisor's markup, such as WORKERS for ``%(ENV_WORKERS)s``."""
    text = text.replace("%(here)s/../../", "").replace("%(here)s/..", "supervisor")
    return re.sub(r"%\(ENV_(BENCH_)?(\w+)\)s", r"\2", text)


def options(words: list[str]) -> Iterator[Setting]:
    """Yield the options of a command line with their values. The last word is the application, not an option."""
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
    """Return the lines of a shell script between <<CONF and CONF."""
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
    """Return the settings of each topic, with the names of the setups that use each setting."""
    found: dict[Concern, dict[str, list[str]]] = {each: {} for each in CONCERNS}
    for setup in setups:
        for setting in settings(setup):
            names = found[concern(setting)].setdefault(setting.shown, [])
            if setup.name not in names:
                names.append(setup.name)
    return found
