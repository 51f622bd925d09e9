"""The settings of all setups' servers, read from supervisor/, by concern: the tables of fairness.rst."""

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
    """A topic of settings: the reason for their values, and their names, with the program's name where ambiguous."""

    title: str
    why: str
    names: str


CONCERNS = (
    Concern(
        "Backlog",
        "Connections that the kernel holds until the server accepts them. Alike for all: ``BACKLOG``, which "
        "``defaults.sh`` sets to 2048, or to what the kernel allows where that is less. Granian has a socket, and "
        "so a backlog, for each worker. Caddy has no setting, and takes what the kernel allows.",
        "--backlog --endpoint --listen --server-backlog --daemon-backlog socket_backlog backlog listen",
    ),
    Concern(
        "Connections that stay open",
        "An idle connection stays open for ``KEEP_ALIVE`` seconds, for any number of requests. Gunicorn's sync "
        "worker closes each connection after its answer, by its nature; Daphne keeps them for 60 seconds, without a "
        "setting, hence the default. Waitress looks for idle ones every 30 seconds only. Granian has no "
        "setting of this name: the time that it waits for the headers of the next request does the same, in "
        "milliseconds. uWSGI and Waitress close the connection after an answer whose length they do not know "
        "beforehand, a stream. nginx keeps its connections to the server for less than the server does, lest it use "
        "one that is being closed. Caddy closes an idle connection after 30 seconds, without a setting.",
        "--keep-alive --timeout-keep-alive --http-keepalive --http1-header-read-timeout --keep-alive-timeout "
        "channel_timeout keep_alive_max_requests MaxKeepAliveRequests keepalive keepalive_timeout "
        "keepalive_requests",
    ),
    Concern(
        "Processes and threads",
        "``WORKERS`` and ``THREADS`` in the words of each server. Where ``THREADS`` is missing it has no meaning: a "
        "sync or gevent worker has one thread, and under ASGI Django takes as many threads as requests need. nginx "
        "has a worker for each CPU that the setup may use, Apache four processes for clients; neither runs Django.",
        "--workers --threads --processes --worker-class --blocking-threads --enable-threads --gevent "
        "--gevent-early-monkey-patch --master numprocs threads worker_processes StartServers ServerLimit "
        "ThreadLimit ThreadsPerChild MinSpareThreads MaxSpareThreads --interface",
    ),
    Concern(
        "Clients at a time",
        "How many connections a server takes before it lets others wait. A thousand where there is a limit that can "
        "be set, and for each request in flight two descriptors in nginx.",
        "--worker-connections connection_limit asyncore_use_poll MaxRequestWorkers worker_connections "
        "worker_rlimit_nofile",
    ),
    Concern(
        "Event loop and parser",
        "The compiled event loop and HTTP parser where the server can have them, as its documentation advises. "
        "Uvicorn parses with httptools, Gunicorn's ASGI worker with its parser in Python, Hypercorn with h11, Granian "
        "with hyper and Daphne with Twisted. ``HTTP_PARSER`` selects the other parser of Uvicorn and "
        "Gunicorn; Gunicorn's compiled one is published as source code (see below).",
        "uvicorn--http --loop --asgi-loop http_parser --runtime",
    ),
    Concern(
        "Lifespan, and when Django is loaded",
        "Django does not speak ASGI's lifespan protocol, so it is switched off in servers that try it. Every "
        "worker loads Django by itself: what saves memory by loading it once before the fork is off.",
        "--lifespan --asgi-lifespan --lazy-apps --need-app --single-interpreter --module --application-type "
        "--callable-object --server-type --app",
    ),
    Concern(
        "Requests: sizes, bodies, unusual paths",
        "What must not be judged by a server, as the others leave it to Django. nginx and Waitress read a request "
        "whole before the server, or Django, sees it, and nginx takes an answer off the server's hands at once: "
        "both its defaults.",
        "--buffer-size --limit-request-body client_max_body_size --map-head-to-get --chunked-request "
        "AllowEncodedSlashes --no-ws proxy_pass proxy_http_version proxy_set_header proxy_redirect default "
        "--forwarded-allow-ips",
    ),
    Concern(
        "HTTP/2",
        "For a client over TLS that asks for it (``TLS=1``), from servers that have it. Gunicorn's sync worker "
        "does not, so each file of its other workers names it.",
        "http_protocols",
    ),
    Concern(
        "WebSockets",
        "A ping after 20 seconds, and 20 for the answer, wherever that can be set: Granian has no heartbeat, Hypercorn "
        "does not look for the answer, Action Cable's is three seconds, python-socketio has one of its own, for which "
        "Uvicorn's is off, and those of ws and socket.io are set in "
        "``peers/``. What a server may be sent at the most stays at its default (:ref:`page-peers` has the sizes), and "
        "so does compression: it takes a client that offers it, and the load generator does not unless a test asks for "
        "it. Uvicorn has two implementations; the setup names one.",
        "--ws --ws-ping-interval --ws-ping-timeout --ping-interval --ping-timeout --websocket-ping-interval --redis "
        "--environment",
    ),
    Concern(
        "Logs",
        "No server writes a line for a request that went well. Django logs errors, alike in all.",
        "-v --quiet --no-access-log --log-level --disable-logging --log-to-terminal access_log error_log",
    ),
    Concern(
        "Restarts and stopping",
        "No server starts a worker anew because a file changed, or, unless ``MAX_REQUESTS`` is set, after some number "
        "of requests; that is the default of most. Uvicorn and uWSGI take it from the environment. All give requests "
        "in flight three seconds when they are stopped, and supervisor ends what is left after five.",
        "--graceful-timeout --timeout-graceful-shutdown --workers-kill-timeout --worker-reload-mercy "
        "--shutdown-timeout --die-on-term --disable-reloading max_requests max_requests_jitter",
    ),
    Concern(
        "Where it listens, and its files",
        "``BIND`` and ``PORT`` for whoever faces the client, Unix sockets behind; files in ``RUN_DIR``, in memory. "
        "Gunicorn is given a configuration file of this project's, or it would read one of the project that it serves.",
        "--bind --host --port uwsgi--http --fd --uds --socket --http-to --worker-tmp-dir --no-control-socket "
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
        """The setting as in the table."""
        return f"{self.name} {self.value}".strip()


def concern(setting: Setting) -> Concern:
    """The setting's concern. Raises LookupError for one that no concern names."""
    for found in CONCERNS:
        if {setting.name, setting.program + setting.name} & set(found.names.split()):
            return found
    raise LookupError(
        f"{setting.program} {setting.shown}: say in docs/_ext/setup_settings.py what it is about, and why"
    )


def settings(setup: Setup) -> Iterator[Setting]:
    """All settings of the setup's programs, in its file and in those that its commands name."""
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
    """Without supervisor's markup: ``%(ENV_WORKERS)s`` is WORKERS."""
    text = text.replace("%(here)s/../../", "").replace("%(here)s/..", "supervisor")
    return re.sub(r"%\(ENV_(BENCH_)?(\w+)\)s", r"\2", text)


def options(words: list[str]) -> Iterator[Setting]:
    """The options of a command line and their values, without the application at the end."""
    program, *rest = words
    for at, word in enumerate(rest):
        if word.startswith("-"):
            name, _, value = word.partition("=")
            following = rest[at + 1 : at + 2]
            if following and not following[0].startswith("-") and (at + 2 < len(rest) or name == "--include-file"):
                value = following[0]
            yield Setting(program, name, value)


def settings_in(text: str, file: str) -> Iterator[Setting]:
    """The settings in a server's own file, by the file's kind."""
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
    """What stands between <<CONF and CONF."""
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
    """For each concern, its settings as they are shown and the names of the setups that have them."""
    found: dict[Concern, dict[str, list[str]]] = {each: {} for each in CONCERNS}
    for setup in setups:
        for setting in settings(setup):
            names = found[concern(setting)].setdefault(setting.shown, [])
            if setup.name not in names:
                names.append(setup.name)
    return found
