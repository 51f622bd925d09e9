"""Start a setup with its services, wait until it is healthy, and stop everything at the end."""

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
from loadtests.serve.http import Answer, ask, with_ticket
from loadtests.setups import Setup
from loadtests.setups.application import Application
from loadtests.setups.services import found_here, known, required_by
from loadtests.workload import Request

ANSWERED_WITHIN_S = 2.0
OWN_ANSWERED_WITHIN_S = 10.0  # a page of the user's project may take longer than the sample project's health view
GONE = ("BACKOFF", "FATAL", "UNKNOWN")
READY = "ready-{}"  # supervisor/gunicorn.conf.py writes this file to RUN_DIR for a ready instance with this pid
CERTIFICATE = "tls.crt"  # supervisor/defaults.sh creates this file in RUN_DIR
WEB = "web"  # the role of Django's programs in supervisor/conf.d


class NotServing(Exception):
    """The setup didn't start or has failed.

    Args:
        message: A description of the failure.
        log: The end of the setup's logs.
        of_service: Whether the cause is a service that the setup isn't charged for.
    """

    def __init__(self, message: str, log: str = "", of_service: bool = False) -> None:
        super().__init__(message)
        self.log = log
        self.of_service = of_service


@dataclasses.dataclass(frozen=True)
class Serving:
    """A running setup.

    Args:
        setup: The setup that is running.
        services: The names of the setup's services.
        charged: The services whose cost is added to the setup's cost.
        application: The application that the setup serves.
        host: The machine on which the setup runs.
        supervised: The supervisord that runs the setup and its services.
        address: The address and the port on which the setup listens.
        workers: The number of processes that run Django.
        apart: Whether the services run on other cores than the setup.
        ca: The certificate to trust (PEM), if the setup uses TLS.
    """

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
        """The request that checks the setup's health."""
        [request] = self.application.addressed([Request("health", path=self.application.health)])
        return request

    @property
    def folder(self) -> Path:
        """The folder with the sockets and logs of the running setup."""
        return self.supervised.folder

    def parts(self) -> list[Part]:
        """Return the first process of each process tree of the setup and its services."""
        services = known()
        renews = bool(self.setup.deployed and self.setup.deployed.renews)
        own = [Part(one.role, one.pid, as_one=renews) for one in self.supervised.programs(self.setup.group)]
        of_services = [
            Part(
                program.role,
                program.pid,
                service in self.charged,
                elsewhere=self.apart,
                as_one=services[service].as_one,
            )
            for service in self.services
            for program in self.supervised.programs(service)
        ]
        # A program may have exited as intended, such as the redis program if REDIS_URL names another Redis.
        return [part for part in (*own, *of_services) if part.pid]

    def logs(self) -> str:
        """Return the end of each log."""
        return self.supervised.logs()

    def failed(self) -> str | None:
        """Describe a process that has failed, or return None."""
        return self._first_failed([*self.services, self.setup.group])

    def failed_service(self) -> str | None:
        """Describe a failed process of a service that the setup isn't charged for, or return None."""
        return self._first_failed([service for service in self.services if service not in self.charged])

    def unready_service(self) -> str | None:
        """Return the name of a service that can't be used yet, or None.

        A service that exited with 0 has nothing to do, for example because ORIGIN_URL names another origin. A service
        that failed isn't ready. The caller checks the state of this service next.
        """
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
        """Send one request and return the answer. Raise OSError or http.client.HTTPException if there is no answer."""
        request = with_ticket(request, lambda ticket: self.ask(ticket, timeout_s))
        return ask(*self.address, request, timeout_s, self.ca)

    def restart(self) -> None:
        """Stop and start the setup, but not its services, and wait until the setup is healthy.

        Raises:
            NotServing: If the setup doesn't stop in time, or doesn't start.
        """
        self._again(self.setup.group)
        _wait(self)

    def reload(self) -> None:
        """Replace the workers in the way that the setup's file defines: with a signal, or one instance after the other.

        Raises:
            NotServing: If an instance doesn't become ready again.
        """
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
        """Kill the largest worker, or if there are no workers, the largest process that supervisord started."""
        first = {program.pid: Part(program.role, program.pid) for program in self._servers()}
        usage = self.host.usage(first.values(), self.folder)
        workers = [one for pid, one in usage.items() if pid not in first] or list(usage.values())
        self.supervised.signal(max(workers, key=lambda one: one.rss_mb).pid, "KILL")

    def _servers(self) -> list[Program]:
        """Return the programs that run Django, without a proxy in front."""
        return [one for one in self.supervised.programs(self.setup.group) if one.role.startswith(WEB) and one.pid]

    def _again(self, name: str) -> None:
        """Stop and start a group or a process."""
        try:
            self.supervised.stop(name)
        except ConnectionLost:
            raise
        except UserError as error:
            raise NotServing(str(error), self.logs()) from None
        self.supervised.start(name)

    def seconds_to_answer(self) -> float:
        """Measure the response time at rest. Raise OSError or http.client.HTTPException if there is no answer."""
        return health.seconds_to_answer(self._ask_health)

    def calm_down(self, idle_s: float) -> bool:
        """After an overload, wait until the setup answers as fast as at rest. Return whether it recovered in time."""
        return health.calm_down(self._ask_health, idle_s)

    def _ask_health(self) -> None:
        self.ask(self.health, health.CALM_WITHIN_S)


@contextlib.contextmanager
def serving(
    setup: Setup, env: Mapping[str, str], application: Application, host: Host, services: Sequence[str] = ()
) -> Iterator[Serving]:
    """Start a setup and its services, wait until it is healthy, and stop everything at the end.

    Also start ``services``, and the services that the setup and its knobs need. The setup is charged for the services
    that its file names in ``charges``. It is also charged for the services of its knobs, because a session store
    without a service uses CPU time in the server itself.

    Args:
        setup: The setup to start.
        env: The knobs, including PORT. BIND is loopback by default.
        application: The application to serve.
        host: The machine on which the setup starts.
        services: The names of additional services to start.

    Raises:
        UserError: If the port is taken, or the knobs enable TLS and the setup doesn't support it.
        NotServing: If the setup doesn't start.
    """
    bind, port = env.get("BIND") or "127.0.0.1", int(env["PORT"])
    over_tls = setups.tls(env)
    if why := setup.refuses(setups.offers_needed(env)):
        raise UserError(f"{setup.name}: {why}")
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
    """Wait until the setup answers and all its workers have started.

    The first answer shows only that one worker has started.
    """
    within_s = running.application.healthy_within_s
    end = time.monotonic() + within_s
    while (why := _unhealthy(running)) is not None:
        if time.monotonic() > end:
            raise NotServing(f"was not healthy within {within_s:g} s: {why}", running.logs())
        time.sleep(health.LOOK_EVERY_S)
    if running.workers == 1 and not running.setup.deployed:
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
    """Return the logs with the failed group's logs at the end."""
    group = failed.partition(":")[0]
    parts = [part.rstrip("\n") for part in re.split(r"(?m)^(?=--- )", logs)]
    return "\n".join(sorted(filter(None, parts), key=lambda part: part.startswith(f"--- {group}")))
