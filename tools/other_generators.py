"""Compare openloop with other load generators: ``python -m tools.other_generators vegeta,k6,oha,h2load``.

The tools measure two servers whose response times are known. One server answers after ``DELAY_MS``. The other server
freezes for one of every four seconds, so a share of ``FREEZE_S / EVERY_S`` of the requests in an open loop waits for 0
to 1 second, evenly distributed. The true percentiles follow from this distribution. ``docs/methodology.rst`` shows the
results.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from loadtests import hosts
from loadtests.engines import node
from loadtests.engines.openloop import ENGINE
from loadtests.errors import UserError, unknown
from loadtests.formatting import DASH
from loadtests.observe.cores import pinned
from loadtests.report.terminal_tables import grid, print_grid
from loadtests.workload import Load

RATE = 200  # requests per second at even intervals, a rate that all tools support
DELAY_MS, DELAY_FOR_S = 20, 8
FREEZE_S, EVERY_S, FREEZES = 1.0, 4.0, 3
TRUTH_MS = {p: 1000 * FREEZE_S * (1 - (100 - p) / 100 * EVERY_S / FREEZE_S) for p in (90, 95, 99)}
AGREES_WITHIN = 0.1  # The allowed relative error of each percentile.
OMITS_BELOW = 0.5  # A p90 below this share of the true p90 means that the tool omits requests.
KNOWN_SERVER = Path(__file__).with_name("knownserver.js")

Percentiles = dict[int, float]  # in milliseconds


@dataclasses.dataclass(frozen=True)
class Way:
    """A load generator with certain options.

    Attributes:
        tool: The name of the program.
        label: The tool and its options, for the table.
        command: Returns the shell command for a URL and a duration in seconds.
        stdin: Returns the standard input for a URL and a duration in seconds.
        read: Returns the percentiles and the number of dropped requests from the output.
        omits_by: The reason why the tool can omit slow requests or their waits.
    """

    tool: str
    label: str
    command: Callable[[str, int], str]
    stdin: Callable[[str, int], str]
    read: Callable[[str], tuple[Percentiles, int]]
    omits_by: str = ""


@dataclasses.dataclass(frozen=True)
class Measured:
    """The figures that a tool reports for both servers, in milliseconds.

    ``own_p99_ms`` is the p99 of the tool's own delay, if the tool reports it.
    """

    label: str
    delay: Percentiles
    freeze: Percentiles
    dropped: int
    verdict: str
    own_p99_ms: float | None = None


def read_vegeta(text: str) -> tuple[Percentiles, int]:
    """Read the JSON of ``vegeta report``, whose times are in nanoseconds."""
    latencies = json.loads(text)["latencies"]
    return {p: latencies[f"{p}th"] / 1e6 for p in (50, 90, 95, 99)}, 0


def read_k6(text: str) -> tuple[Percentiles, int]:
    """Read the metrics that ``K6_SCRIPT`` prints, whose times are in milliseconds from the actual send."""
    metrics = json.loads(text)
    times = metrics["http_req_duration"]["values"]
    dropped = metrics.get("dropped_iterations", {"values": {"count": 0}})["values"]["count"]
    return {p: times[f"p({p})"] for p in (50, 90, 95, 99)}, dropped


def read_oha(text: str) -> tuple[Percentiles, int]:
    """Read the JSON of ``oha``, whose times are in seconds."""
    times = json.loads(text)["latencyPercentiles"]
    return {p: 1000 * times[f"p{p}"] for p in (50, 90, 95, 99)}, 0


def read_h2load(text: str) -> tuple[Percentiles, int]:
    """Read the log of ``h2load``, with a line for each answer. The third column is its time in microseconds."""
    times = sorted(int(line.split("\t")[2]) / 1000 for line in text.splitlines())
    return {p: times[min(len(times) - 1, len(times) * p // 100)] for p in (50, 90, 95, 99)}, 0


K6_SCRIPT = """
import http from 'k6/http';
const arrivals = { executor: 'constant-arrival-rate', rate: %(rate)d, timeUnit: '1s', duration: '%(seconds)ds' };
export const options = {
  scenarios: { open: { ...arrivals, preAllocatedVUs: %(users)d, maxVUs: %(users)d } },
  summaryTrendStats: ['p(50)', 'p(90)', 'p(95)', 'p(99)'],
};
export default () => { http.get('%(url)s'); };
export const handleSummary = (data) => ({ stdout: JSON.stringify(data.metrics) });
"""


def _vegeta(label: str, option: str, omits_by: str = "") -> Way:
    def command(_: str, seconds: int) -> str:
        return f"vegeta attack -rate {RATE}/s -duration {seconds}s {option} | vegeta report -type json"

    return Way("vegeta", label, command, lambda url, _: f"GET {url}\n", read_vegeta, omits_by)


def _k6(users: int, omits_by: str = "") -> Way:
    def script(url: str, seconds: int) -> str:
        return K6_SCRIPT % {"rate": RATE, "seconds": seconds, "users": users, "url": url}

    return Way("k6", f"k6, {users} VUs", lambda *_: "k6 run --quiet --no-usage-report -", script, read_k6, omits_by)


def _oha(label: str, option: str, omits_by: str = "") -> Way:
    def command(url: str, seconds: int) -> str:
        return f"oha --no-tui --output-format json -w -q {RATE} -z {seconds}s {option} {url}"

    return Way("oha", label, command, lambda *_: "", read_oha, omits_by)


def _h2load(connections: int) -> Way:
    def command(url: str, seconds: int) -> str:
        options = f"--h1 --rps {RATE // connections} -c {connections} -D {seconds} --log-file=log"
        return f"h2load {options} {url} >&2 && cat log"

    reason = "closed loop: clients wait for answers before they send"
    return Way("h2load", f"h2load, {connections} clients", command, lambda *_: "", read_h2load, reason)


WAYS = (
    _vegeta("vegeta", ""),
    _vegeta("vegeta, 20 workers", "-max-workers 20", "too few workers: the wait for a worker isn't timed"),
    _k6(400),
    _k6(50, "too few virtual users: arrivals are dropped"),
    _oha("oha, corrected", "-c 400 --latency-correction"),
    _oha("oha, 20 connections", "-c 20", "too few connections, timed from the actual send"),
    _h2load(20),
)


def chosen(names: str) -> list[Way]:
    """Return the entries of WAYS for the tools in a comma-separated list.

    Raises:
        UserError: If a tool is unknown or not on PATH.
    """
    tools = [name.strip() for name in names.split(",")]
    for tool in tools:
        if tool not in {way.tool for way in WAYS}:
            raise unknown("load generator", tool, {way.tool for way in WAYS})
        if shutil.which(tool) is None:
            how = "Install Debian's nghttp2-client" if tool == "h2load" else "Build it with `make peers-generators`"
            raise UserError(f"{tool} is not on PATH. {how}")
    return [way for way in WAYS if way.tool in tools]


def measure(ways: Sequence[Way]) -> list[Measured]:
    """Return the figures that openloop and the given tools report. Each measurement takes about 25 seconds.

    Raises:
        UserError: If a tool fails.
    """
    node.require()
    core = hosts.at("local").allot(None).servers[0]
    found = []
    for way in (None, *ways):
        label = way.label if way else ENGINE.name
        with _server(core, "delay", DELAY_MS) as url:
            delay, _, own = _ask(way, url, DELAY_FOR_S)
        with _server(core, "freeze", FREEZE_S * 1000, EVERY_S * 1000) as url:
            freeze, dropped, _ = _ask(way, url, round(FREEZES * EVERY_S))
        verdict = judge(freeze, way.omits_by if way else "")
        found.append(Measured(label, delay, freeze, dropped, verdict, own))
    return found


def judge(freeze: Percentiles, omits_by: str) -> str:
    """Return the verdict on a tool: whether its percentiles for the freezing server agree with the true percentiles."""
    if all(abs(freeze[p] / truth - 1) <= AGREES_WITHIN for p, truth in TRUTH_MS.items()):
        return "agrees"
    if freeze[90] < OMITS_BELOW * TRUTH_MS[90]:
        return f"omits ({omits_by or 'for an unknown reason'})"
    return "differs"


def _ask(way: Way | None, url: str, seconds: int) -> tuple[Percentiles, int, float | None]:
    if way is None:
        result = ENGINE.run(Load.of_url(url, rate=RATE, duration_s=seconds))
        times: dict[str, Any] = result.response_time_ms
        return {p: times[f"p{p}"] for p in (50, 90, 95, 99)}, result.planned - result.ok, result.pacing_lag_ms["p99"]
    with tempfile.TemporaryDirectory() as folder:
        return *_run(way, url, seconds, Path(folder)), None


def _run(way: Way, url: str, seconds: int, folder: Path) -> tuple[Percentiles, int]:
    command = ["sh", "-c", way.command(url, seconds)]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=folder, text=True, start_new_session=True, **pipes) as process:
        try:
            output, errors = process.communicate(way.stdin(url, seconds))
        finally:
            with contextlib.suppress(ProcessLookupError):
                # end all programs of the pipeline, even if Ctrl-C interrupts the measurement
                os.killpg(process.pid, signal.SIGKILL)
    try:
        return way.read(output)
    except (ValueError, LookupError):
        lines = errors.strip().splitlines() or [f"exit status {process.returncode}"]
        raise UserError(f"{way.label} printed no figures: {lines[-1]}") from None


@contextlib.contextmanager
def _server(core: int, *behaviour: object) -> Iterator[str]:
    command = [node.require(), str(KNOWN_SERVER), *map(str, behaviour)]
    with pinned(core):
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
    with process:
        assert process.stdout is not None
        try:
            yield f"{process.stdout.readline().strip()}/"
        finally:
            process.kill()


def show(found: Sequence[Measured]) -> None:
    """Print a table with the true percentiles, and a row for each tool."""
    table = grid(("", "p50", "p99", "own p99", "p90", "p95", "p99", "dropped", "frozen server"), range(1, 8), (0,))
    table.add_row("truth", f"{DELAY_MS}", f"{DELAY_MS}", "", *(f"{truth:.0f}" for truth in TRUTH_MS.values()), "0", "")
    for one in found:
        own = DASH if one.own_p99_ms is None else f"{one.own_p99_ms:.1f}"
        delay = [f"{one.delay[p]:.1f}" for p in (50, 99)]
        freeze = [f"{one.freeze[p]:.0f}" for p in TRUTH_MS]
        table.add_row(one.label, *delay, own, *freeze, f"{one.dropped:,}", one.verdict)
    print_grid(Console(), table, f"Response times in ms that each tool reports at {RATE} requests/s, even arrivals")


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    try:
        show(measure(chosen(arguments[0])))
    except UserError as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
