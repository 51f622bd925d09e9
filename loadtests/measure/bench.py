"""Create the context that all trials of a run share: host, servers, engines and cores.

Unit tests can replace parts of the context.
"""

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
from loadtests.measure.host_options import HostOptions
from loadtests.observe.cores import Cores
from loadtests.plan.database_times import POSTGRESQL
from loadtests.plan.entries import Entry, in_environment
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.base import NO_START_OPTIONS, StartOptions
from loadtests.plan.kinds.talk import in_dialect
from loadtests.plan.study import Study
from loadtests.records.run.run_record import Contract, OtherClient, RunRecord
from loadtests.serve.serving import Serving, serving
from loadtests.services.origin import recipes
from loadtests.setups import Setup, fetching, services
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
    """The context that all trials of a run share.

    Attributes:
        serve: Starts a setup with its knobs and supporting services on a port.
        contract: The required answers (see ``loadtests.measure.contract_check``).
        seed: The seed of the run.
        mhz: The CPU frequencies in earlier trials, by machine. The key of the servers' machine is None.
        client_records: Descriptions of the clients. ``require`` sets them.
        service_records: Descriptions of the services' machines. ``require`` sets them.
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

    @property
    def url(self) -> str:
        """The URL of the setups, without a path."""
        return f"http://{self.host.address(self.bind)}:{self.port}"

    def serving(
        self, entry: Entry, start_options: StartOptions = NO_START_OPTIONS, port: int | None = None
    ) -> AbstractContextManager[Serving]:
        """Start the entry's setup with its knobs and the test's services, by default on the bench's port.

        Raises:
            NotServing: If the setup doesn't start.
            UserError: If the port is taken.
        """
        knobs = {**entry.env, **dict(start_options.knobs)}
        env = {**knobs, **self.cores.knobs(knobs)}
        return self.serve(self.setup_of(entry), env, start_options.services, port or self.port)

    def setup_of(self, entry: Entry) -> Setup:
        """Return the entry's setup with the environment of the entry's variant."""
        return in_environment(entry, self.setups)

    def obstacle(self, entry: Entry) -> str | None:
        """Return why the entry's setup can't serve the application with its knobs, or None if it can."""
        setup = self.setup_of(entry)
        if (lacks := self.host.missing(setups.software_needed(entry.env, setup.needs))) is not None:
            return lacks
        if self.application.own and entry.env.get(services.PGBOUNCER_KNOB):
            return "PGBOUNCER only works with the sample project"
        return self.application.obstacle(setup) or self._lacking(self.services_of(entry))

    def refused(self, entry: Entry, test: Test) -> str | None:
        """Return why a test can't measure the entry's setup with its knobs, or None if it can."""
        over_tls = setups.tls(entry.env)
        demands = {*test.setup_features, *setups.offers_needed(entry.env)}
        if over_tls:
            if Feature.TLS not in self.engine(test.engine).features:
                return f"the engine {test.engine} cannot {Feature.TLS.value}"
            if setups.WEBSOCKET in demands:
                return "the load generator doesn't support WebSockets over TLS"
        if "http2" in demands:
            demands.add("h2" if over_tls else "h2c")
        return self.application.refused(self.setup_of(entry), demands, test.requests)

    def services_of(self, entry: Entry) -> tuple[str, ...]:
        """Return the services that the entry's setup and its knobs need."""
        return _services_of(entry, self.setups, self.application)

    def ports(self, count: int) -> list[int]:
        """Return free ports for setups that run at the same time, starting with the bench's port.

        Raises:
            UserError: If there aren't enough free ports.
        """
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
            raise UserError(f"fewer than {count} ports from {self.port} upwards are free. Set another port: PORT=8000")
        return found

    def load(
        self, test: Test, url: str, bodies: Sequence[bytes | None] = (), chance: int = 0, entry: Entry | None = None
    ) -> Load:
        """Return the load of a test on a server at ``url``, in the WebSocket dialect of the entry's setup.

        Args:
            test: The test that defines the load.
            url: The server's address.
            bodies: The expected bodies of the answers, by request.
            chance: The seed of the load's random decisions.
            entry: The entry, or None if the load doesn't depend on a setup.

        Raises:
            UserError: If the load isn't valid.
        """
        load = test.load(url, self.application.addressed(test.requests), bodies, self.cores.generator[0], chance)
        load = self.clients.share(load)
        if entry is not None:
            load = in_dialect(load, self.setups[entry.setup].dialect)
        return self.application.with_script(load)

    def require(self, study: Study) -> None:
        """Check everything that can be checked before a server starts.

        Raises:
            UserError: If a trial would fail.
        """
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
            services.require_redis(started)
        self.client_records = self.clients.look(self.host, self.bind, self.port, self.allow_remote)

    def _require_able(self, test: Test) -> None:
        """Check that the engine can generate the test's load, and that the test's services can start.

        Raises:
            UserError: If the engine can't generate the load, or a service can't start.
        """
        try:
            engine = self.engine(test.engine)
            engine.require()
            load = self.load(test, self.url)
            if test.sign_in is not None:
                test.sign_in.accounts()
                load = dataclasses.replace(load, cookies=("",))
            require_able(engine, load, test.pace.engine_features)
            if test.recipe:
                if ORIGIN not in test.services:
                    raise UserError(f'recipe: the test starts no origin. Add services = ["{ORIGIN}"]')
                recipes.load(test.recipe)
        except UserError as error:
            raise UserError(f"test {test.name}: {error}") from None
        known = services.known()
        for name in test.services:
            if name not in known:
                raise UserError(f"test {test.name}: services: {name!r} is not a service. Allowed: {', '.join(known)}")
        if (lacks := self._lacking(test.services)) is not None:
            raise UserError(f"test {test.name}: {lacks}")

    def _lacking(self, names: Sequence[str]) -> str | None:
        """Return why the first unavailable service can't start, or None if all services can."""
        lacking = ((name, self.host.missing(services.known()[name].needs)) for name in names)
        return next((f"the service {name}: {lacks}" for name, lacks in lacking if lacks is not None), None)

    def _require_postgresql(self, entry: Entry, tests: Sequence[Test]) -> None:
        """Check that all tests use PostgreSQL if the entry uses PgBouncer.

        Raises:
            UserError: If a test doesn't use PostgreSQL.
        """
        for test in tests:
            if services.PGBOUNCER in self.services_of(entry) and POSTGRESQL not in test.services:
                raise UserError(f'{entry.label} in test {test.name}: PGBOUNCER needs services = ["{POSTGRESQL}"]')

    def _require_fetching(self, entry: Entry, tests: Sequence[Test]) -> None:
        """Check that every requested view can fetch from the origin when the entry's setup serves the view.

        Raises:
            UserError: If a view can't fetch.
        """
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
) -> Bench:
    """Create the bench for a study, with the servers on the host at ``where``.

    Raises:
        UserError: If the host can't be used.
    """
    known = {setup.name: setup for setup in setups.find(entry.setup for entry in study.entries)}
    host = hosts.at(where)
    if where != HERE:
        for test in study.tests:
            for service in {ORIGIN, POSTGRESQL} & set(test.services):
                raise UserError(f"test {test.name}: the service {service} only works for servers on this machine")
    served = host.application(application)
    bind, port = host.bind(), setups.port()

    def serve(
        setup: Setup, env: Mapping[str, str], services: Sequence[str], port: int
    ) -> AbstractContextManager[Serving]:
        return serving(setup, {**env, "BIND": bind, "PORT": str(port)}, served, host, services)

    clients = clients or Clients()
    bench = Bench(host, bind, port, host.allot(os.environ.get("CORES")), known, served, serve, clients.engine)
    return dataclasses.replace(bench, allow_remote=allow_remote, clients=clients)


def _services_of(entry: Entry, known: Mapping[str, Setup], application: Application) -> tuple[str, ...]:
    """Return the services of an entry's setup and, for the sample project, the services that the entry's knobs need."""
    of_knobs = () if application.own else services.required_by(entry.env)
    return tuple(dict.fromkeys([*known[entry.setup].services, *of_knobs]))


def bench_for(options: HostOptions, allow_remote: bool, own: bool) -> BenchOf:
    """Return a function that creates the bench for a study on the hosts in ``options``.

    ``own`` means that the setups serve the user's own project. Only this machine can serve the user's project.

    Raises:
        UserError: If the options aren't valid.
    """
    clients = Clients.parse(options)
    if own and options.servers:
        raise UserError(f"{options.servers} only serves the sample project. Leave out --servers, or --app")
    if allow_remote and not options.servers:
        raise UserError("--allow-remote only works with servers on another machine. Add --servers ssh://user@host")
    where = options.servers or HERE
    return functools.partial(make_bench, where=where, allow_remote=allow_remote, clients=clients)


def bench_of_run(record: RunRecord) -> BenchOf:
    """Return a function that creates the bench of an existing run, on the hosts that the run recorded.

    The bench allows load on other machines if the run allowed such load.
    """
    unproven = record.servers is not None and record.servers.round_trip_ms is None
    return bench_for(HostOptions.of_record(record), allow_remote=unproven, own=False)
