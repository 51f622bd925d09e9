"""A builder of run folders with known numbers, written through the store as a real run is."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loadtests.capacity.judge import Judgement, Outcome
from loadtests.capacity.search import Plan, Probe, Search
from loadtests.store import Run, Trial

FIVE = ("gunicorn", "daphne-redis", "daphne-ipc", "daphne", "uvicorn")
SPEED = {"gunicorn": 2.0, "daphne-redis": 21.0, "daphne-ipc": 6.5, "daphne": 4.0, "uvicorn": 3.0}
BROKE = {
    "reason": "generator_busy",
    "severity": "invalid",
    "sentence": "the generator was at 97% of its core, at most 85%. Lower the rate & <try> again.",
}

Change = Callable[[str, str, int, dict[str, Any]], None]


@pytest.fixture
def build_run(tmp_path: Path, run_builder: Callable[[Path], Callable[..., Run]]) -> Callable[..., Run]:
    """The function that ``run_builder`` gives for the test's own folder."""
    return run_builder(tmp_path)


@pytest.fixture(scope="session")
def run_builder() -> Callable[[Path], Callable[..., Run]]:
    """Gives, for a folder, a function that writes a run folder into it and returns it opened.

    ``labels`` are the entries (a twin of the first is added with ``aa``); ``invalid`` are (label, test, block) whose
    first attempt is invalid, ``lost`` those whose second is as well. ``change(label, test, block, result)`` may alter
    a result before it is written. ``tests`` and ``blocks`` choose the shape; no blocks at all is an empty run. A test
    called capacity searches with the real search: each setup's capacity is where its queue would be 50 ms long, and
    over ``generator_rate`` the generator is the limit.
    """

    return lambda folder: functools.partial(_build, folder)


def _build(
    folder: Path,
    labels: tuple[str, ...] = FIVE,
    tests: tuple[str, ...] = ("latency", "throughput"),
    blocks: int = 2,
    aa: bool = False,
    invalid: tuple[tuple[str, str, int], ...] = (),
    lost: tuple[tuple[str, str, int], ...] = (),
    change: Change | None = None,
    name: str = "2026-11-21-first-look",
    about: dict[str, Any] | None = None,
    study: dict[str, Any] | None = None,
    generator_rate: float = 1e9,
) -> Run:
    entries = [{"label": label, "setup": label, "env": {}} for label in labels]
    if aa:
        entries.append({"label": f"{labels[0]}-again", "setup": labels[0], "env": {}})
    order = [
        {"number": 0, "block": block, "label": entry["label"], "test": test}
        for block in range(1, blocks + 1)
        for test in tests
        for entry in (entries if block % 2 else reversed(entries))
    ]
    for number, slot in enumerate(order, start=1):
        slot["number"] = number
    run = Run.create(
        folder / name,
        {
            "name": name,
            "created": "2026-11-21T07:30:00+00:00",
            "study": {
                "name": "first-look",
                "title": "A first look",
                "question": "Which way should I serve Django, and what does each choice cost?",
                "baseline": labels[0],
                "entries": entries,
                "tests": [_test(test) for test in tests],
                "blocks": blocks,
                "delta": 0.03,
                "aa": aa,
                **(study or {}),
            },
            "order": order,
            "seed": 7,
            "command": "python -m loadtests run first-look --seed 7",
            "git": {"revision": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
            "machine": {
                "cpu": {"model": "A CPU of Known Speed @ 2.80GHz", "cores": 2, "smt": False},
                "kernel": "Linux 6.1.0",
                "memory_mb": 24000,
                "container": None,
            },
            "versions": {
                "python": "CPython 3.11.2",
                "gil": True,
                "packages": {"Django": "5.2.19", "gunicorn": "27.0.1"},
                "node_packages": {"undici": "7.0.0"},
            },
            "knobs": {"WORKERS": "1"},
            "cores": {"servers": [0], "generator": [1]},
            "setups": {
                entry["label"]: {"label": f"How {entry['setup']} is served", "interface": "wsgi"} for entry in entries
            },
            **(about or {}),
        },
    )
    setups = {entry["label"]: entry["setup"] for entry in entries}
    for slot in order:
        key = (slot["label"], slot["test"], slot["block"])
        if slot["test"] == "capacity":
            run.save_trial(_search(slot, setups, labels, generator_rate))
            continue
        if key in invalid or key in lost:
            # Absurd on purpose: an average that took it in would be seen at once.
            run.save_trial(_trial(slot, setups, 1, _result(slot, labels, 1000.0), [BROKE], change))
        if key in lost:
            run.save_trial(_trial(slot, setups, 2, None, [BROKE], change))
        else:
            attempt = 2 if key in invalid else 1
            run.save_trial(_trial(slot, setups, attempt, _result(slot, labels), [], change))
    return Run.open(run.path)


def _test(name: str) -> dict[str, Any]:
    if name == "capacity":
        search = {"objective": "p99<50ms", "start_rate": 50.0, "max_rate": 1e5, "probe_s": 5.0, "confirm_s": 30.0}
        common = {"name": name, "kind": name, "path": "/", "engine": "openloop", "warmup_s": 2.0}
        return {**common, "rate": None, "connections": None, "duration_s": None, **search}
    fixed = name.startswith("latency")
    return {
        "name": name,
        "kind": "latency" if fixed else "throughput",
        "path": "/",
        "engine": "openloop",
        "rate": 300.0 if fixed else None,
        "connections": None if fixed else 10,
        "duration_s": 10.0,
        "warmup_s": 2.0,
    }


def _result(slot: dict[str, Any], labels: tuple[str, ...], times: float = 1.0) -> dict[str, Any]:
    """Block b is b% slower than the first would be at b = 0, so medians and ratios are plain arithmetic."""
    label = slot["label"].removesuffix("-again")
    typical = SPEED.get(label, 2.0 + 0.5 * labels.index(label)) * (1 + slot["block"] / 100) * times
    # No two setups move alike from block to block, as on a machine; at most by 0.4%.
    place = 3 if slot["label"].endswith("-again") else labels.index(label)
    typical *= 1 + ((slot["block"] * (place + 2)) % 5 - 2) / 500
    fixed = slot["test"].startswith("latency")
    answered = 3000 if fixed else round(200_000 / typical / 10) * 10
    each = [round(answered / 10 * (1 + 0.03 * ((second * 7) % 5 - 2))) for second in range(10)]
    each[-1] += answered - sum(each)
    spread = {"p50": 1.0, "p90": 1.6, "p95": 2.0, "p99": 4.0, "p99.9": 9.0, "max": 15.0, "mean": 1.2}
    response = {key: round(typical * factor, 4) for key, factor in spread.items()}
    return {
        "engine": "openloop",
        "planned": answered,
        "sent": answered,
        "completed": answered,
        "ok": answered,
        "unfinished": 0,
        "errors": {},
        "duration_s": 10.0,
        "rate": answered / 10,
        "response_time_ms": response,
        "service_time_ms": dict(response),
        "send_lag_ms": dict.fromkeys(spread, 0.05),
        "timeline": [
            {
                "t": second,
                "sent": ok,
                "completed": ok,
                "ok": ok,
                "errors": 0,
                "p50_ms": response["p50"],
                "p99_ms": response["p99"],
            }
            for second, ok in enumerate(each)
        ],
        "histograms": {},
        "generator": [{"cpu_s": 1.5, "wall_s": 10.0, "peak_rss_mb": 80.0}],
        "pacing_lag_ms": dict.fromkeys(spread, 0.04),
        "waited": 0,
        "latency_of": "response_time",
        "examples": {},
    }


def _search(slot: dict[str, Any], setups: dict[str, str], labels: tuple[str, ...], generator_rate: float) -> Trial:
    """A search against a queue: at a share u of what the setup can do, p99 is its usual one over 1 - u."""
    result = _result(slot, labels)
    usual = result["response_time_ms"]["p99"] / 4
    speed = 1000 / usual
    search, probes = Search(Plan(start_rate=50)), []
    while isinstance(step := search.next(), Probe):
        p99 = usual / (1 - step.rate / speed) if step.rate < speed else 1000.0
        outcome = Outcome.PASS if p99 < 50 else Outcome.FAIL
        if step.rate > generator_rate:
            outcome = Outcome.INVALID
        planned = round(step.rate * step.duration_s)
        shares = {"p50": 0.25, "p90": 0.5, "p95": 0.7, "p99": 1.0, "p99.9": 2.0, "max": 3.0, "mean": 0.3}
        probes.append(
            {
                "rate": step.rate,
                "duration_s": step.duration_s,
                "purpose": step.purpose.value,
                "outcome": outcome.value,
                "why": "",
                "planned": planned,
                "ok": planned,
                "errors": 0,
                "response_time_ms": {key: p99 * share for key, share in shares.items()},
            }
        )
        search.record(Judgement(outcome, "", clear=True))
    capacity = {
        "rate": step.rate,
        "above": step.above,
        "limited_by": step.limited_by.value,
        "sentence": step.sentence,
        "objective": "p99<50ms, errors<0.1%",
        "probes": probes,
    }
    return dataclasses.replace(_trial(slot, setups, 1, result, [], None), capacity=capacity)


def _trial(
    slot: dict[str, Any],
    setups: dict[str, str],
    attempt: int,
    result: dict[str, Any] | None,
    flags: list[dict[str, str]],
    change: Change | None,
) -> Trial:
    label = slot["label"]
    if result is not None and change is not None:
        change(label, slot["test"], slot["block"], result)
    roles = {"web": 3.0, "worker": 6.0, "redis": 1.5} if "redis" in label else {"web": 3.0}
    if "ipc" in label:
        roles = {"web": 3.0, "worker": 6.0}
    return Trial(
        number=slot["number"],
        block=slot["block"],
        label=label,
        setup=setups[label],
        test=slot["test"],
        attempt=attempt,
        started="2026-11-21T07:30:00+00:00",
        status="invalid" if flags else "ok",
        flags=flags,
        result=result,
        processes=[
            {
                "role": role,
                "name": role,
                "pid": 100 + pid,
                "cpu_s": cpu_s * (1 + slot["block"] / 100),
                "peak_rss_mb": 60.0,
                "rss_mb": 55.0,
                "context_switches": 6000,
                "requests": None if role == "redis" else 3000,
            }
            for pid, (role, cpu_s) in enumerate(roles.items())
        ],
        cores={"servers": [0], "generator": [1]},
    )
