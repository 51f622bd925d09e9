"""What the trials of a run share: host, servers, engines, cores. A test hands in others."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from loadtests import engines, hosts, setups
from loadtests.engines import Engine, require_able
from loadtests.errors import UserError
from loadtests.hosts import ConnectionLost, Host
from loadtests.measure import open_files
from loadtests.measure.clients import Clients
from loadtests.measure.host_options import HostOptions, ServiceHosts
from loadtests.observe.cores import SERVICES, Cores
from loadtests.plan.database_times import POSTGRESQL
from loadtests.plan.entries import Entry
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.base import NO_START_OPTIONS, StartOptions
from loadtests.plan.kinds.talk import in_dialect
from loadtests.plan.study import Study
from loadtests.records.run.run_record import Contract, OtherClient, RunRecord, ServiceHost
from loadtests.serve.serving import Serving, serving
from loadtests.services.origin import recipes
from loadtests.setups import Setup, fetching, other_stacks, services
from loadtests.setups.application import Application
from loadtests.setups.fetching import ORIGIN
from loadtests.workload import Feature, Load

Serve = Callable[[Setup, Mapping[str, str], Sequence[str], int], AbstractContextManager[Serving]]
EngineOf = Callable[[str], Engine]
BenchOf = Callable[[Study, Application], "Bench"]
LAST_PORT = 65535
HERE = "local"


@dataclasses.dataclass
class Bench:
    """What the trials of a run share.

    ``serve`` starts a setup under its knobs, with supporting services, on a port. ``contract`` is what the setups must
    answer (``loadtests.measure.contract_check``), ``seed`` the run's, ``mhz`` the frequencies so far by machine (None:
    the servers'). ``client_records`` and ``service_records`` are known once ``require`` has passed.
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
    clients: Clients = dataclasses.field(default_factory=Clients)
    client_records: tuple[OtherClient, ...] = ()
    service_hosts: ServiceHosts = dataclasses.field(default_factory=ServiceHosts)
    service_records: tuple[ServiceHost, ...] = ()

    @property
    def url(self) -> str:
        """Where the setups will answer, without a path."""
        return f"http://{self.host.address(self.bind)}:{self.port}"

    def serving(
        self, entry: Entry, start_options: StartOptions = NO_START_OPTIONS, port: int | None = None
    ) -> AbstractContextManager[Serving]:
        """The entry's setup under its knobs, started with what a test needs; on the bench's port by default. Raises
        NotServing and UserError on entering."""
        knobs = {**entry.env, **dict(start_options.knobs)}
        env = {**knobs, **self.cores.knobs(knobs)}
        return self.serve(self.setups[entry.setup], env, start_options.services, port or self.port)

    def obstacle(self, entry: Entry) -> str | None:
        """Why the entry's setup cannot serve the application under its knobs, in a few words; None where it can."""
        setup, name = self.setups[entry.setup], self.python_of(entry)
        if setups.tls(entry.env) and (lacks := self.host.missing(("openssl",))) is not None:
            return lacks
        if self.application.own and entry.env.get(services.PGBOUNCER_KNOB):
            return "PGBOUNCER is for the sample project"
        if not name:
            return self.application.obstacle(setup) or self._lacking(self.services_of(entry))
        if self.application.own:
            return "PYTHON is for the sample project: yours has a Python of its own (--python)"
        possible = setup.interface in ("wsgi", "asgi", "bolt") and not setup.stack
        if not possible or self.services_of(entry) or self.host.name != HERE:
            return "PYTHON is for setups of WSGI and ASGI without services, on this machine"
        on_python = dataclasses.replace(self.application, bin=other_stacks.python(name))
        return other_stacks.missing_python(name) or on_python.obstacle(setup)

    def refused(self, entry: Entry, test: Test) -> str | None:
        """Why the entry's setup cannot be measured in a test under its knobs, in words; None where it can."""
        over_tls, demands = setups.tls(entry.env), set(test.work.setup_features)
        if over_tls:
            demands.add("tls")
            if Feature.TLS not in self.engine(test.engine).features:
                return f"the engine {test.engine} cannot {Feature.TLS.value}"
            if setups.WEBSOCKET in demands:
                return "WebSockets over TLS cannot be loaded"
        if "http2" in demands:
            demands.add("h2" if over_tls else "h2c")
        return self.application.refused(self.setups[entry.setup], demands, test.requests)

    def python_of(self, entry: Entry) -> str:
        """The Python that the entry's setup runs on where that is not the benchmark's; else empty."""
        return entry.env.get("PYTHON") or ("" if self.application.own else os.environ.get("PYTHON", ""))

    def stacks_of(self, entry: Entry) -> list[str]:
        """The stack that the entry's setup runs on, where that is another than the benchmark's own."""
        return [name for name in (self.setups[entry.setup].stack, self.python_of(entry)) if name]

    def services_of(self, entry: Entry) -> tuple[str, ...]:
        """The services that the entry's setup and its knobs ask for."""
        return _services_of(entry, self.setups, self.application)

    def ports(self, count: int) -> list[int]:
        """Free ports for setups that run at once, from the bench's own on. Raises UserError."""
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
        self, test: Test, url: str, bodies: Sequence[bytes | None] = (), chance: int = 0, entry: Entry | None = None
    ) -> Load:
        """The load of a test on a server at ``url``, in the WebSocket dialect of the entry's setup. ``bodies`` are the
        expected answers, ``chance`` seeds what is random. Raises UserError."""
        load = test.load(url, self.application.addressed(test.requests), bodies, self.cores.generator[0], chance)
        load = self.clients.share(load)
        if entry is not None:
            load = in_dialect(load, self.setups[entry.setup].dialect)
        return self.application.with_script(load)

    def require(self, study: Study) -> None:
        """Raises UserError for what can be known to go wrong before anything is started."""
        for service in self.service_hosts.machines:
            for entry in study.entries:
                self._require_no_cores(entry, service.name)
        self.host.require_free(self.bind, self.port)
        self.host.require_reachable(self.bind, self.port, self.allow_remote)
        open_files.require(study.tests)
        for test in study.tests:
            self._require_able(test)
        for entry in study.entries:
            try:
                self.cores.services(entry.env)
            except UserError as error:
                raise UserError(f"{entry.label}: {error}") from None
            self._require_fetching(entry, study.tests)
            self._require_postgresql(entry, study.tests)
        if self.host.name == HERE:
            started = {name for entry in study.entries for name in self.services_of(entry)}
            services.require_redis(started - {service.name for service in self.service_hosts.machines})
        apart = self.service_hosts.machines.values()
        self.client_records = self.clients.look(self.host, self.bind, self.port, self.allow_remote, apart)
        self.service_records = self.service_hosts.look(self.host, self.port, self.allow_remote)

    def _require_able(self, test: Test) -> None:
        """Raises UserError where an engine is missing or cannot make the test's load, or its services cannot start."""
        try:
            engine = self.engine(test.engine)
            engine.require()
            require_able(engine, self.load(test, self.url), test.pace.engine_features)
        except UserError as error:
            raise UserError(f"test {test.name}: {error}") from None
        if test.recipe:
            _require_recipe(test)
        known = services.known()
        for name in test.services:
            if name not in known:
                raise UserError(f"test {test.name}: services: there is no {name!r}; there are: {', '.join(known)}")
        if (lacks := self._lacking(test.services)) is not None:
            raise UserError(f"test {test.name}: {lacks}")

    def _lacking(self, names: Sequence[str]) -> str | None:
        """What the first of these services that cannot start lacks; None where all can."""
        lacking = ((name, self.host.missing(services.known()[name].needs)) for name in names)
        return next((f"the service {name}: {lacks}" for name, lacks in lacking if lacks is not None), None)

    def _require_postgresql(self, entry: Entry, tests: Sequence[Test]) -> None:
        """Raises UserError where PgBouncer would have nothing behind it."""
        for test in tests:
            if services.PGBOUNCER in self.services_of(entry) and POSTGRESQL not in test.services:
                raise UserError(
                    f'{entry.label} in test {test.name}: PGBOUNCER is for tests with services = ["{POSTGRESQL}"]'
                )

    def _require_no_cores(self, entry: Entry, service: str) -> None:
        """Raises UserError where a service on its own machine is to have cores of the servers' machine as well."""
        cores = entry.env.get(SERVICES) or os.environ.get(SERVICES)
        if cores and service in self.services_of(entry):
            raise UserError(
                f"{entry.label} wants {service} on cores of the servers' machine ({SERVICES}={cores}), "
                "and --services on another machine; leave one of the two out"
            )

    def _require_fetching(self, entry: Entry, tests: Sequence[Test]) -> None:
        """Raises UserError where a test requests a view that cannot fetch behind the entry's setup."""
        setup = self.setups[entry.setup]
        for test in tests if not self.application.own else ():
            if self.refused(entry, test) is not None:
                continue
            available = {*setup.services, *test.services}
            for path in dict.fromkeys(request.path for request in test.requests):
                if (wrong := fetching.wrong(path, setup.interface, entry.env, available)) is not None:
                    raise UserError(f"{entry.label} in test {test.name}: {wrong}")


def make_bench(
    study: Study,
    application: Application,
    where: str = HERE,
    allow_remote: bool = False,
    clients: Clients | None = None,
    service_hosts: ServiceHosts | None = None,
) -> Bench:
    """The bench of a study on a host. Raises UserError."""
    known = {setup.name: setup for setup in setups.find(entry.setup for entry in study.entries)}
    of_setups = {name for entry in study.entries for name in _services_of(entry, known, application)}
    apart = (service_hosts or ServiceHosts()).used_by(
        of_setups | {name for test in study.tests for name in test.services}
    )
    host = apart.attached_to(hosts.at(where))
    if where != HERE:
        for test in study.tests:
            for service in {ORIGIN, POSTGRESQL} & set(test.services):
                raise UserError(
                    f"test {test.name}: the service {service} is for projects that are served on this machine"
                )
    served = host.application(application)
    bind, port = host.bind(), setups.port()

    def serve(
        setup: Setup, env: Mapping[str, str], services: Sequence[str], port: int
    ) -> AbstractContextManager[Serving]:
        return serving(setup, {**env, "BIND": bind, "PORT": str(port)}, served, host, services)

    clients = clients or Clients()
    bench = Bench(host, bind, port, host.allot(os.environ.get("CORES")), known, served, serve, clients.engine)
    return dataclasses.replace(bench, allow_remote=allow_remote, clients=clients, service_hosts=apart)


def _services_of(entry: Entry, known: Mapping[str, Setup], application: Application) -> tuple[str, ...]:
    """The services that an entry's setup and, for the sample project, its knobs ask for."""
    of_knobs = () if application.own else services.required_by(entry.env)
    return tuple(dict.fromkeys([*known[entry.setup].services, *of_knobs]))


def bench_for(options: HostOptions, allow_remote: bool, own: bool) -> BenchOf:
    """Makes the bench of a study on these hosts; a project of the user's ``own`` is served here only. Raises
    UserError."""
    clients = Clients.parse(options)
    apart = ServiceHosts.parse(options, clients.addresses) if options.services else ServiceHosts()
    if own and (options.servers or options.services):
        where, option = (options.servers, "--servers") if options.servers else (options.services, "--services")
        raise UserError(f"{where} has the sample project only; leave out {option}, or --app")
    if allow_remote and not (options.servers or options.services):
        raise UserError("--allow-remote is for servers on another machine; name it: --servers ssh://user@host")
    where = options.servers or HERE
    return functools.partial(make_bench, where=where, allow_remote=allow_remote, clients=clients, service_hosts=apart)


def bench_of_run(record: RunRecord) -> BenchOf:
    """Makes the bench of a run that was begun, on the same hosts and with the consent that was given then."""
    unproven = any(one.round_trip_ms is None for one in (record.servers, *record.service_hosts) if one is not None)
    return bench_for(HostOptions.of_record(record), allow_remote=unproven, own=False)


def _require_recipe(test: Test) -> None:
    """Raises UserError where a test names a recipe that is none, or no origin that could play it."""
    if ORIGIN not in test.services:
        raise UserError(f'test {test.name}: recipe: no origin plays it; services = ["{ORIGIN}"] is needed')
    try:
        recipes.load(test.recipe)
    except UserError as error:
        raise UserError(f"test {test.name}: recipe: {error}") from None
