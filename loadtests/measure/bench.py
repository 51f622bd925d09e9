"""What the trials of a run share: host, servers, engines, cores. A test hands in others."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from loadtests import engines, hosts, setups
from loadtests.engines import Engine, require_able
from loadtests.errors import UserError
from loadtests.hosts import ConnectionLost, Host
from loadtests.measure import open_files
from loadtests.measure.host_options import Places
from loadtests.measure.other_clients import ALONE, Clients
from loadtests.measure.service_hosts import BESIDE, ServiceHosts
from loadtests.observe.cores import SERVICES, Cores
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.base import NO_START_OPTIONS, StartOptions
from loadtests.plan.kinds.over_websocket import in_dialect
from loadtests.plan.study import Entry, Study
from loadtests.records.run.run_record import Contract, OtherClient, RunRecord, ServiceHost
from loadtests.serve.base import Server
from loadtests.serve.serving import serving
from loadtests.services.origin import recipes
from loadtests.setups import Setup, fetching, services
from loadtests.setups.application import Application
from loadtests.setups.fetching import ORIGIN
from loadtests.workload import Load

Serve = Callable[[Setup, Mapping[str, str], Sequence[str], int], AbstractContextManager[Server]]
EngineOf = Callable[[str], Engine]
BenchOf = Callable[[Study, Application], "Bench"]
LAST_PORT = 65535
HERE = "local"


@dataclasses.dataclass
class Bench:
    """What the trials of a run share.

    ``serve`` takes a setup, its knobs, the names of services beside it and a port to a running server; ``engine`` takes
    a name to an engine. ``contract`` is what the setups must answer (see ``loadtests.measure.preflight``). ``seed`` is
    the run's. ``mhz`` are the frequencies seen so far, by machine (None: the servers'). Load goes to an address that
    does not prove to be the host's where ``allow_remote`` says so. ``clients`` make a part of it, and ``elsewhere`` are
    services on machines of their own; what these are is seen before anything is started.
    """

    host: Host
    bind: str
    port: int
    cores: Cores
    setups: dict[str, Setup]
    application: Application
    serve: Serve
    engine: EngineOf = engines.get
    contract: Contract = dataclasses.field(default_factory=dict)
    seed: int = 0
    mhz: dict[str | None, list[float]] = dataclasses.field(default_factory=dict)
    allow_remote: bool = False
    clients: Clients = ALONE
    clients_seen: tuple[OtherClient, ...] = ()
    elsewhere: ServiceHosts = BESIDE
    service_hosts_seen: tuple[ServiceHost, ...] = ()

    @property
    def url(self) -> str:
        """Where the setups will answer, without a path."""
        return f"http://{self.host.address(self.bind)}:{self.port}"

    def serving(
        self, entry: Entry, beside: StartOptions = NO_START_OPTIONS, port: int | None = None
    ) -> AbstractContextManager[Server]:
        """The entry's setup under its knobs, with what a test wants beside it; on the bench's port, if no other is
        given. Raises NotServing and UserError on entering."""
        knobs = {**entry.env, **dict(beside.knobs)}
        env = {**knobs, **self.cores.knobs(knobs)}
        return self.serve(self.setups[entry.setup], env, beside.services, port or self.port)

    def beside(self, entry: Entry) -> tuple[str, ...]:
        """The services that the entry's setup and its knobs ask for."""
        return _beside(entry, self.setups, self.application)

    def ports(self, count: int) -> list[int]:
        """So many ports for setups that run at once: the bench's own, and the next ones that are free. Raises
        UserError."""
        found: list[int] = []
        for port in range(self.port, LAST_PORT + 1):
            if len(found) == count:
                break
            try:
                self.host.require_free(self.bind, port)
                found.append(port)
            except UserError as error:
                if not found or isinstance(error, ConnectionLost):
                    raise
        if len(found) < count:
            raise UserError(f"from port {self.port} on there are no {count} free ones; choose another: PORT=8000")
        return found

    def load(
        self,
        test: Test,
        url: str,
        bodies: Sequence[bytes | None] = (),
        chance: int = 0,
        entry: Entry | None = None,
    ) -> Load:
        """The load of a test on a server at ``url``, of an entry's setup where one is given; ``bodies`` are what its
        requests should be answered with (see Load), ``chance`` is what it draws by. Raises UserError."""
        load = test.load(url, self.application.addressed(test.requests), bodies, self.cores.generator[0], chance)
        load = self.clients.share(load)
        in_its_own = load if entry is None else in_dialect(load, self.setups[entry.setup].dialect)
        return self.application.with_script(in_its_own)

    def require(self, study: Study) -> None:
        """Raises UserError for what can be known to go wrong before anything is started: a taken port, an engine that
        is missing or cannot make a test's load, a service that is not there."""
        self._require_no_cores(study)
        self.host.require_free(self.bind, self.port)
        self.host.require_reachable(self.bind, self.port, self.allow_remote)
        beside = services.known()
        open_files.require(study.tests)
        for test in study.tests:
            try:
                engine = self.engine(test.engine)
                engine.require()
                require_able(engine, self.load(test, self.url), test.engine_features)
            except UserError as error:
                raise UserError(f"test {test.name}: {error}") from None
            if test.recipe:
                _require_recipe(test)
            for name in test.services:
                if name not in beside:
                    raise UserError(f"test {test.name}: services: there is no {name!r}; there are: {', '.join(beside)}")
                if (lacks := self.host.missing(beside[name].needs)) is not None:
                    raise UserError(f"test {test.name}: the service {name}: {lacks}")
        for entry in study.entries:
            try:
                self.cores.services(entry.env)
            except UserError as error:
                raise UserError(f"{entry.label}: {error}") from None
            self._require_fetching(entry, study.tests)
            for name in self.beside(entry):
                if (lacks := self.host.missing(beside[name].needs)) is not None:
                    raise UserError(f"{entry.label}: the service {name}: {lacks}")
        apart = self.elsewhere.machines.values()
        self.clients_seen = self.clients.look(self.host, self.bind, self.port, self.allow_remote, apart)
        self.service_hosts_seen = self.elsewhere.look(self.host, self.port, self.allow_remote)

    def _require_no_cores(self, study: Study) -> None:
        """Raises UserError where a service that has a machine of its own is to have cores of the servers' as well."""
        for service in self.elsewhere.machines:
            for entry in study.entries:
                cores = entry.env.get(SERVICES) or os.environ.get(SERVICES)
                if cores and service.name in self.beside(entry):
                    raise UserError(
                        f"{entry.label} wants {service.name} on cores of the servers' machine ({SERVICES}={cores}), "
                        "and --services on another machine; leave one of the two out"
                    )

    def _require_fetching(self, entry: Entry, tests: Sequence[Test]) -> None:
        """Raises UserError where a test asks for a view that fetches, and there is no origin or another client."""
        setup = self.setups[entry.setup]
        for test in tests if not self.application.own else ():
            if self.application.refused(setup, test.setup_features, test.requests) is not None:
                continue
            beside = {*setup.services, *test.services}
            for path in dict.fromkeys(request.path for request in test.requests):
                if (wrong := fetching.wrong(path, setup.interface, entry.env, beside)) is not None:
                    raise UserError(f"{entry.label} in test {test.name}: {wrong}")


def bench(
    study: Study,
    application: Application,
    where: str = HERE,
    allow_remote: bool = False,
    clients: Clients = ALONE,
    elsewhere: ServiceHosts = BESIDE,
) -> Bench:
    """The bench of a study on a host. Raises UserError."""
    known = {setup.name: setup for setup in setups.find(entry.setup for entry in study.entries)}
    of_setups = [name for entry in study.entries for name in _beside(entry, known, application)]
    elsewhere = elsewhere.asked_for({*of_setups, *(name for test in study.tests for name in test.services)})
    host = elsewhere.beside(hosts.at(where))
    if where != HERE:
        _require_portable(study)
    served = host.application(application)
    bind, port = host.bind(), setups.port()

    def serve(setup: Setup, env: Mapping[str, str], beside: Sequence[str], port: int) -> AbstractContextManager[Server]:
        return serving(setup, env, bind, port, served, host, beside)

    cores = host.allot(os.environ.get("CORES"))
    made = Bench(host, bind, port, cores, known, served, serve, clients.engine)
    return dataclasses.replace(made, allow_remote=allow_remote, clients=clients, elsewhere=elsewhere)


def _beside(entry: Entry, known: Mapping[str, Setup], application: Application) -> tuple[str, ...]:
    """The services that an entry's setup and, for the sample project, its knobs ask for."""
    required_by = () if application.own else services.required_by(entry.env)
    return tuple(dict.fromkeys([*known[entry.setup].services, *required_by]))


def bench_for(places: Places, allow_remote: bool, own: bool) -> BenchOf:
    """What makes the bench of a study: on this machine, or on those of ``places``; of a project of the user's ``own``,
    here only. Raises UserError."""
    clients = Clients.parse(places.clients, places.servers) if places.clients else ALONE
    elsewhere = ServiceHosts.parse(places, clients.addresses) if places.services else BESIDE
    if own and (places.servers or places.services):
        where, option = (places.servers, "--servers") if places.servers else (places.services, "--services")
        raise UserError(f"{where} has the sample project only; leave out {option}, or --app")
    if allow_remote and not (places.servers or places.services):
        raise UserError("--allow-remote is for servers on another machine; name it: --servers ssh://user@host")
    where = places.servers or HERE
    return functools.partial(bench, where=where, allow_remote=allow_remote, clients=clients, elsewhere=elsewhere)


def where_it_was(record: RunRecord) -> BenchOf:
    """What makes the bench of a run that was begun, on the same hosts, of which no more is asked than it then did."""
    unproven = any(one.round_trip_ms is None for one in record.service_hosts)
    unproven = unproven or (record.servers is not None and record.servers.round_trip_ms is None)
    return bench_for(Places.of_record(record), allow_remote=unproven, own=False)


def _require_recipe(test: Test) -> None:
    """Raises UserError where a test names a recipe that is none, or no origin that could play it."""
    if ORIGIN not in test.services:
        raise UserError(f'test {test.name}: recipe: no origin plays it; services = ["{ORIGIN}"] is needed')
    is_path = "/" in test.recipe or test.recipe.endswith(".json")
    if is_path and not Path(test.recipe).is_absolute():
        raise UserError(
            f"test {test.name}: recipe: {test.recipe}: an absolute path is needed, or the name of one that ships"
        )
    try:
        recipes.load(test.recipe)
    except UserError as error:
        raise UserError(f"test {test.name}: recipe: {error}") from None


def _require_portable(study: Study) -> None:
    """Raises UserError, before anybody is asked, for what is served on this machine only."""
    for test in study.tests:
        if ORIGIN in test.services:
            raise UserError(f"test {test.name}: the service {ORIGIN} is for projects that are served on this machine")
