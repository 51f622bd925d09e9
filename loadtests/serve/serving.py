"""Starts a setup with its services, waits until it is healthy, and stops all at the end."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from loadtests import setups
from loadtests.errors import UserError
from loadtests.hosts import ConnectionLost, Host, Program, Supervised
from loadtests.observe import cores
from loadtests.observe.processes import Part
from loadtests.serve import health
from loadtests.serve.http import Answer, ask
from loadtests.setups import Setup
from loadtests.setups.application import Application
from loadtests.setups.services import found_here, known, required_by
from loadtests.workload import Request

ANSWERED_WITHIN_S = 2.0
OWN_ANSWERED_WITHIN_S = 10.0  # a page of the user's project may take longer than the sample's health view
GONE = ("BACKOFF", "FATAL", "UNKNOWN")
READY = "ready-{}"  # in RUN_DIR, of an instance by its pid: supervisor/gunicorn.conf.py writes it
CERTIFICATE = "tls.crt"  # in RUN_DIR: supervisor/defaults.sh makes it
WEB = "web"  # the role of what runs Django, in supervisor/conf.d


class NotServing(Exception):
    """A setup that did not come up, or broke. ``log``: the end of its logs. ``of_service``: a service failed that the
    setup is not charged with."""

    def __init__(self, message: str, log: str = "", of_service: bool = False) -> None:
        super().__init__(message)
        self.log = log
        self.of_service = of_service


@dataclasses.dataclass(frozen=True)
class Serving:
    """A setup that answers. The services in ``charged`` count as its cost; ``apart``: services run on none of its
    cores; ``ca`` is the certificate to trust (PEM) where it answers over TLS."""

    setup: Setup
    services: Sequence[str]
    charged: Collection[str]
    application: Application
    host: Host
    supervised: Supervised
    address: tuple[str, int]
    workers: int
    apart: bool = False
    ca: str | None = None

    @property
    def url(self) -> str:
        """The address without a path, such as ``http://127.0.0.1:8000``."""
        return "{}://{}:{}".format("https" if self.ca else "http", *self.address)

    @property
    def health(self) -> Request:
        """The request whose answer shows that the setup is healthy."""
        [request] = self.application.addressed([Request("health", path=self.application.health)])
        return request

    @property
    def folder(self) -> Path:
        """The folder of its sockets and logs, while it runs."""
        return self.supervised.folder

    def parts(self) -> list[Part]:
        """The first process of each of its process trees, and of its services'."""
        services = known()
        own = [Part(program.role, program.pid) for program in self.supervised.programs(self.setup.group)]
        of_services = [
            Part(
                program.role,
                program.pid,
                service in self.charged,
                elsewhere=self.apart or program.elsewhere,
                as_one=services[service].as_one,
            )
            for service in self.services
            for program in self.supervised.programs(service)
        ]
        # A program may have ended by design: the redis program, where REDIS_URL names another Redis.
        return [part for part in (*own, *of_services) if part.pid]

    def logs(self) -> str:
        """The ends of its logs."""
        return self.supervised.logs()

    def failed(self) -> str | None:
        """A process that is not up."""
        return self._first_failed([*self.services, self.setup.group])

    def failed_service(self) -> str | None:
        """The failed process of a service that the setup is not charged with."""
        return self._first_failed([service for service in self.services if service not in self.charged])

    def unready_service(self) -> str | None:
        """A service that cannot be used yet. One that ended with 0 has nothing to do (ORIGIN_URL names another origin);
        one that failed is not ready, and its state is read next."""
        services = known()
        for name in self.services:
            file = services[name].ready
            programs = self.supervised.programs(name) if file and not self.supervised.has(file) else []
            if any(program.state != "EXITED" or program.exit_status != 0 for program in programs):
                return name
        return None

    def _first_failed(self, groups: Sequence[str]) -> str | None:
        for group in groups:
            for program in self.supervised.programs(group):
                if program.state in GONE or (program.state == "EXITED" and program.exit_status != 0):
                    return f"{group}:{program.role} is {program.state} (exit status {program.exit_status})"
        return None

    def ask(self, request: Request, timeout_s: float) -> Answer:
        """Its answer to one request. Raises OSError or http.client.HTTPException."""
        return ask(*self.address, request, timeout_s, self.ca)

    def restart(self) -> None:
        """Stops the setup, not its services, and starts it again; returns when it is healthy. Raises NotServing when it
        does not stop in time, or does not come up."""
        self._again(self.setup.group)
        _wait(self)

    def reload(self) -> None:
        """Replaces its workers as its file says: by a signal, or one instance after the other. Raises NotServing."""
        for program in self._servers():
            if "HUP" in self.setup.renews:
                self.supervised.signal(program.pid, "HUP")
                continue
            self._again(name := f"{self.setup.group}:{program.role}")
            end = time.monotonic() + self.application.healthy_within_s
            while not self.supervised.has(READY.format(self.supervised.programs(name)[0].pid)):
                _require_up(self)
                if time.monotonic() > end:
                    raise NotServing(f"{name} was not ready again in time", self.logs())
                time.sleep(health.LOOK_EVERY_S)

    def kill_worker(self) -> None:
        """Kills the largest of its workers; where it has none, one of the processes that supervisor started."""
        first = {program.pid: Part(program.role, program.pid) for program in self._servers()}
        usage = self.host.usage(first.values(), self.folder)
        workers = [one for pid, one in usage.items() if pid not in first] or list(usage.values())
        self.supervised.signal(max(workers, key=lambda one: one.rss_mb).pid, "KILL")

    def _servers(self) -> list[Program]:
        """The programs that run Django, without a proxy in front."""
        return [one for one in self.supervised.programs(self.setup.group) if one.role.startswith(WEB) and one.pid]

    def _again(self, name: str) -> None:
        """Stops a group or a process and starts it again."""
        try:
            self.supervised.stop(name)
        except ConnectionLost:
            raise
        except UserError as error:
            raise NotServing(str(error), self.logs()) from None
        self.supervised.start(name)

    def seconds_to_answer(self) -> float:
        """The response time at rest. Raises OSError or http.client.HTTPException."""
        return health.seconds_to_answer(self._ask_health)

    def calm_down(self, idle_s: float) -> bool:
        """Waits until an overload is worked off and it answers as at rest; returns whether it did in time."""
        return health.calm_down(self._ask_health, idle_s)

    def _ask_health(self) -> None:
        self.ask(self.health, health.CALM_WITHIN_S)


@contextlib.contextmanager
def serving(
    setup: Setup, env: Mapping[str, str], application: Application, host: Host, services: Sequence[str] = ()
) -> Iterator[Serving]:
    """Starts the setup's services, those of its knobs and ``services``, then the setup; waits until it is healthy, and
    stops all at the end. Charged are the services that the setup charges and those of its knobs: other session stores
    cost CPU in the server itself.

    ``env`` are the knobs, PORT among them; BIND is loopback by default. Raises UserError where the port is taken, and
    where TLS is asked of a setup that has none; NotServing where the setup does not come up.
    """
    bind, port = env.get("BIND") or "127.0.0.1", int(env["PORT"])
    over_tls = setups.tls(env)
    if over_tls and (why := setup.refuses({"tls"})):
        raise UserError(f"{setup.name}: TLS: {why}")
    host.require_free(bind, port)
    of_knobs = () if application.own else required_by(env)
    names = tuple(dict.fromkeys([*setup.services, *of_knobs, *services]))
    knobs = setups.prefixed({**env, "BIND": bind})
    with host.supervise({**found_here(names), **application.environment_for(setup), **knobs}) as supervised:
        running = Serving(
            setup,
            services=names,
            charged={*setup.charges, *of_knobs},
            application=application,
            host=host,
            supervised=supervised,
            address=(host.address(bind), port),
            workers=setups.workers(env),
            apart=cores.apart(env),
            ca=supervised.read(CERTIFICATE) if over_tls else None,
        )
        for group in (*names, setup.group):
            supervised.start(group)
        _wait(running)
        yield running


def _wait(running: Serving) -> None:
    """Waits until it answers and until all of several workers have come up: the first answer comes from one of them."""
    within_s = running.application.healthy_within_s
    end = time.monotonic() + within_s
    while (why := _unhealthy(running)) is not None:
        if time.monotonic() > end:
            raise NotServing(f"was not healthy within {within_s:g} s: {why}", running.logs())
        time.sleep(health.LOOK_EVERY_S)
    if running.workers == 1:
        return
    own = [part for part in running.parts() if part.charged]
    stillness = health.Stillness(lambda: running.host.usage(own, running.folder))
    end = time.monotonic() + health.STILL_WITHIN_S
    while not stillness.reached() and time.monotonic() < end:
        _require_up(running)
        time.sleep(health.LOOK_EVERY_S)


def _unhealthy(running: Serving) -> str | None:
    _require_up(running)
    if (service := running.unready_service()) is not None:
        return f"the service {service} is not ready"
    own = running.application.own
    within_s = OWN_ANSWERED_WITHIN_S if own else ANSWERED_WITHIN_S
    why = health.unhealthy(lambda: running.ask(running.health, within_s), own)
    return why and f"{running.health.path}: {why}"


def _require_up(running: Serving) -> None:
    if (failed := running.failed_service()) is not None:
        raise NotServing(f"a service did not start: {failed}", _ending_with(failed, running.logs()), of_service=True)
    if (failed := running.failed()) is not None:
        raise NotServing(f"did not start: {failed}", _ending_with(failed, running.logs()))


def _ending_with(failed: str, logs: str) -> str:
    """The logs, with those of the failed group at the end."""
    group = failed.partition(":")[0]
    parts = [part.rstrip("\n") for part in re.split(r"(?m)^(?=--- )", logs)]
    return "\n".join(sorted(filter(None, parts), key=lambda part: part.startswith(f"--- {group}")))
