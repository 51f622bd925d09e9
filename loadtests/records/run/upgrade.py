"""Older run folders, brought to today's form: the one place that knows how they were.

- Schema 1: a test had the fields of all kinds, those of others empty; what was skipped was told by label, and ``ended``
  and ``advice`` were not there where there was none; every process was charged; rates, also those of a search, were
  evenly paced; one trial was measured after another.
- Schema 2: what the slices of a trial left behind was not kept.
- Schema 3: all setups of a block ran at once; a result had neither connections that were held nor journeys, as no test
  held any or had users.
- Schema 4, at first: a trial did not keep what was seen beside its requests.
"""

from __future__ import annotations

from typing import Any

SCHEMA = 4
EMPTY: tuple[Any, ...] = (None, [])


def upgraded_run(values: dict[str, Any], schema: int) -> dict[str, Any]:
    """The object of a run.json of that schema, without its number, as today's."""
    if schema > 3:
        return values
    values = {**values, "study": {**values["study"], "at_once": 0}}
    if schema > 1:
        return values
    skipped = [{"label": label, "test": None, "why": why} for label, why in values.pop("skipped").items()]
    tests = [_test(test) for test in values["study"]["tests"]]
    empty: dict[str, Any] = {
        "services": {},
        "database": None,
        "advice": None,
        "ceilings": {},
        "measured_s": 0.0,
        "ended": None,
    }
    study = {**values["study"], "tests": tests, "interleave": False}
    return {**empty, **values, "study": study, "left_out": skipped}


def _test(values: dict[str, Any]) -> dict[str, Any]:
    filled = {key: value for key, value in values.items() if value not in EMPTY}
    if values["kind"] == "throughput":
        return filled
    return {**filled, "arrivals": "recorded" if filled.get("recorded") else "even"}


def upgraded_trial(values: dict[str, Any], schema: int) -> dict[str, Any]:
    """The same of a trial's file."""
    # Which no process had before views fetched, and nobody looked at.
    values = {"gauges": {}, "meanwhile": None, **values}
    if schema > 3:
        return values
    if schema > 1:
        added: dict[str, Any] = {"connections": None, "journeys": None, **({} if schema == 3 else {"backlog": []})}
        return {**values, "result": {**added, **values["result"]}} if values.get("result") else values
    processes = [{**process, "charged": True} for process in values["processes"]]
    empty: dict[str, Any] = {"deliveries": None, "billed": None, "backlog": [], "connections": None, "journeys": None}
    result = {**values["result"], **empty} if values["result"] else None
    evidence = {**values["evidence"], "service_failed": None, "idle_cpu": None, "spins_s": []}
    return {**values, "processes": processes, "result": result, "evidence": evidence}
