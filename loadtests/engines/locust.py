"""Run journeys with Locust's user classes, in this project's own processes."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
import time
from pathlib import Path

from loadtests.engines import cluster, require_able
from loadtests.engines.base import UNWATCHED, EngineError, Others, Watch
from loadtests.engines.generator_process import Event, common_start, events, results, wait_for
from loadtests.engines.merge import Timeline, merge
from loadtests.files import ROOT
from loadtests.records import Result
from loadtests.workload import Feature, Load, Users

PROGRAM = "injector"  # the name of this load program in messages to workers
COMMAND = [sys.executable, "-m", "loadtests.journeys.injector.process"]
READY_WITHIN_S = 60.0
OVERTIME_S = 30.0  # an injector that still runs this long after the load and the grace period is stuck


@dataclasses.dataclass(frozen=True)
class Locust:
    """Run simulated users with Locust (see ``loadtests.journeys``).

    Locust provides the user class and the HTTP client. The injectors run the users, and count and measure requests in
    the same way as ``openloop``. Locust's own statistics aren't used, because their percentiles are rounded and are
    available only for each route.

    During the ramp (``Load.warmup_s``), users arrive, but no request counts. The measured time is ``Load.duration_s``.
    A request counts if its user was ready in the measured time, even if the answer arrives later, within the grace
    period of ``Load.timeout_s``. No user sends a request after the measured time. Requests are billed, and journeys are
    counted, only if they end within the measured time.

    Response time starts when the user is ready: at the end of the user's think time, or at a redirect. Response time
    includes the injector's own delay, which is also reported separately: ``send_lag_ms`` is the delay of the requests,
    and ``pacing_lag_ms`` is the delay of a heartbeat that each process runs a hundred times per second.

    The processes with the highest indexes run on ``others``, one process on each machine or worker.
    """

    name = "locust"
    features = frozenset({Feature.JOURNEYS, Feature.PROCESSES, Feature.EARLY_STOP, Feature.RESPONSE_TIME})

    others: Others = ()

    def shared_with(self, others: Others) -> Locust:
        return Locust(others)

    def require(self) -> None:
        """Check that Locust is installed.

        Raises:
            EngineError: If Locust isn't installed.
        """
        if importlib.util.find_spec("locust") is None:
            raise EngineError("Locust is not installed. Run `make setup`")

    def check(self, load: Load) -> None:
        """Check the number of users.

        Raises:
            UserError: If there are too many users.
        """
        _starts(_users(load), load)

    def run(self, load: Load, watch: Watch = UNWATCHED) -> Result:
        require_able(self, load)  # check the load before any process is started
        users = _users(load)
        timeline = Timeline(load.processes)
        with cluster.running(PROGRAM, COMMAND, ROOT, load.processes, load.core, self.others) as processes:
            for index, process in enumerate(processes):
                process.write(_job(users, load, index))
            wait_for(processes, "ready", READY_WITHIN_S)
            begin = common_start(processes)
            for process in processes:
                process.write({"start": begin + process.ahead_ms / 1000})
            takes_s = load.warmup_s + load.duration_s + load.timeout_s
            limit_s = begin - time.monotonic() + takes_s + OVERTIME_S
            moments = {"held": watch.on_start, "over": watch.on_end}
            for event in events(processes, "result", limit_s, watch.should_stop):
                if event["event"] == "second":
                    timeline.add(event, watch.on_second)
                # All processes start and end the measured time together, so the first event is enough.
                elif (on_moment := moments.pop(event["event"], None)) is not None:
                    on_moment()
            timeline.over(watch.on_second)
            return merge(self.name, results(processes), timeline.rows(), users=users)


def _users(load: Load) -> Users:
    assert load.users is not None
    return load.users


def _starts(users: Users, load: Load) -> list[tuple[int, float]]:
    return users.starts(load.warmup_s, load.duration_s, load.arrival_seed or 0)


def _credentials(users: Users) -> list[dict[str, str]]:
    """Return the users' credentials, which are sent only to the injectors, over a private pipe."""
    who = users.sign_in
    return [{"login": who.login, "user": name, "secret": secret} for name, secret in who.accounts()] if who else []


def _job(users: Users, load: Load, index: int) -> Event:
    """Return the job of one injector, with its users and their arrival times."""
    [request] = load.requests
    return {
        **_journey(Path(users.journey)),
        "origin": load.origin,
        "path": users.path,
        "headers": dict(request.headers),
        "think_s": users.think_s,
        "sign_in": _credentials(users),
        "starts": _starts(users, load)[index :: load.processes],
        "stays": users.stay,
        "seed": load.arrival_seed or 0,
        "ramp_s": load.warmup_s,
        "hold_s": load.duration_s,
        "timeout_s": load.timeout_s,
    }


def _journey(file: Path) -> dict[str, str]:
    """Return the fields of a job that describe the journey's file.

    The path of a file in this project is relative to the project's folder, which is different on other machines.
    For a user's file, the job contains the text.
    """
    if file.is_relative_to(ROOT):
        return {"journey": str(file.relative_to(ROOT))}
    return {"journey": str(file), "text": file.read_text(encoding="utf-8")}


ENGINE = Locust()
