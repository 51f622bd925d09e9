"""A setup that answers: its services and its group started and healthy, and stopped at the end."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from loadtests import setups
from loadtests.errors import UserError
from loadtests.hosts import ConnectionLost, Host, Supervised
from loadtests.observe import cores
from loadtests.observe.processes import Part
from loadtests.serve import health
from loadtests.serve.base import NotServing
from loadtests.serve.http import Answer, ask
from loadtests.setups import Setup
from loadtests.setups.application import Application
from loadtests.setups.services import known, required_by
from loadtests.workload import Request

ANSWERED_WITHIN_S = 2.0
GONE = ("BACKOFF", "FATAL", "UNKNOWN")


class Serving:
    """A running setup, see ``loadtests.serve.base.Server``. It pays for the ``services`` that are ``charged``; whether
    they run on none of its cores is told by ``apart``."""

    def __init__(
        self,
        setup: Setup,
        services: Sequence[str],
        charged: Collection[str],
        application: Application,
        host: Host,
        supervised: Supervised,
        address: tuple[str, int],
        workers: int,
        apart: bool = False,
    ) -> None:
        self.setup = setup
        self.services = tuple(services)
        self.charged = frozenset(charged)
        self.application = application
        self.host = host
        self.workers = workers
        self.apart = apart
        self._supervised = supervised
        self._address = address

    @property
    def url(self) -> str:
        return "http://{}:{}".format(*self._address)

    @property
    def health(self) -> Request:
        """The request that is answered once the whole way to a view works."""
        [request] = self.application.addressed([Request("health", path=self.application.health)])
        return request

    @property
    def folder(self) -> Path:
        return self._supervised.folder

    def parts(self) -> list[Part]:
        own = [Part(program.role, program.pid) for program in self._supervised.programs(self.setup.name)]
        beside = [
            Part(program.role, program.pid, service in self.charged, elsewhere=self.apart or program.elsewhere)
            for service in self.services
            for program in self._supervised.programs(service)
        ]
        # A program may have nothing to do: the redis program, where REDIS_URL names another Redis.
        return [part for part in (*own, *beside) if part.pid]

    def logs(self) -> str:
        return self._supervised.logs()

    def failed(self) -> str | None:
        return next((told for group in (*self.services, self.setup.name) if (told := self._broken(group))), None)

    def failed_service(self) -> str | None:
        """Which process of a service is not up that the setup is not charged with; None where all are."""
        beside = [service for service in self.services if service not in self.charged]
        return next((told for group in beside if (told := self._broken(group))), None)

    def unready_service(self) -> str | None:
        """Which service cannot be used yet; None where all can. One that has ended well has nothing to do: the origin,
        where ORIGIN_URL names another. One that has failed is none, though it may have been up a moment ago."""
        services = known()
        for name in self.services:
            file = services[name].ready
            programs = self._supervised.programs(name) if file and not self._supervised.has(file) else []
            if any(program.state != "EXITED" or program.exit_status != 0 for program in programs):
                return name
        return None

    def _broken(self, group: str) -> str | None:
        for program in self._supervised.programs(group):
            # A program may exit with 0 by design: the redis program, where REDIS_URL names another Redis.
            if program.state in GONE or (program.state == "EXITED" and program.exit_status != 0):
                return f"{group}:{program.role} is {program.state} (exit status {program.exit_status})"
        return None

    def ask(self, request: Request, timeout_s: float) -> Answer:
        return ask(*self._address, request, timeout_s)

    def restart(self) -> None:
        try:
            self._supervised.stop(self.setup.name)
        except ConnectionLost:
            raise
        except UserError as error:
            raise NotServing(str(error), self.logs()) from None
        self._supervised.start(self.setup.name)
        _wait(self)

    def seconds_to_answer(self) -> float:
        return health.seconds_to_answer(self._asked)

    def calm_down(self, idle_s: float) -> bool:
        return health.calm_down(self._asked, idle_s)

    def _asked(self) -> None:
        self.ask(self.health, health.CALM_WITHIN_S)


@contextlib.contextmanager
def serving(
    setup: Setup,
    env: Mapping[str, str],
    bind: str,
    port: int,
    application: Application,
    host: Host,
    services: Sequence[str] = (),
) -> Iterator[Serving]:
    """Starts the services (the setup's own, those that its knobs ask for, and those beside), then the setup; waits
    until it is healthy, and stops all at the end. The setup pays for those that it charges and those of its knobs: what
    a store of sessions does in a process of its own, another does in the server's.

    Takes the knobs as environment variables. Raises UserError where the port is taken and NotServing where the setup
    does not come up.
    """
    host.require_free(bind, port)
    asked = () if application.own else required_by(env)
    wanted = dict.fromkeys([*setup.services, *asked, *services])
    with host.supervise({**application.environment, **env, "BIND": bind, "PORT": str(port)}) as supervised:
        charged = {*setup.charges, *asked}
        address, workers = (host.address(bind), port), setups.workers(env)
        apart = cores.apart(env)
        running = Serving(setup, tuple(wanted), charged, application, host, supervised, address, workers, apart)
        for group in (*wanted, setup.name):
            supervised.start(group)
        _wait(running)
        yield running


def _wait(running: Serving) -> None:
    """Until it answers and, where it has several workers, until all of them have come up: the first one that answers
    says nothing of the others."""
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
    while not stillness.seen() and time.monotonic() < end:
        _require_up(running)
        time.sleep(health.LOOK_EVERY_S)


def _unhealthy(running: Serving) -> str | None:
    _require_up(running)
    if (service := running.unready_service()) is not None:
        return f"the service {service} is not ready"
    why = health.unhealthy(lambda: running.ask(running.health, ANSWERED_WITHIN_S), running.application.own)
    return why and f"{running.health.path}: {why}"


def _require_up(running: Serving) -> None:
    if (failed := running.failed_service()) is not None:
        raise NotServing(f"a service did not start: {failed}", _ending_with(failed, running.logs()), of_service=True)
    if (failed := running.failed()) is not None:
        raise NotServing(f"did not start: {failed}", _ending_with(failed, running.logs()))


def _ending_with(failed: str, logs: str) -> str:
    """The logs, at their end that of the group that failed: who reads only the last line reads why."""
    group = failed.partition(":")[0]
    parts = [part.rstrip("\n") for part in re.split(r"(?m)^(?=--- )", logs)]
    return "\n".join(sorted(filter(None, parts), key=lambda part: part.startswith(f"--- {group}")))
