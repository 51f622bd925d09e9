"""Temporary: committed folders of schemas 2 to 4 as schema 5, until they are converted."""

from __future__ import annotations

from typing import Any

RENAMED = {
    "spins_s": "calibration_s",
    "others_cpu": "other_load",
    "rested_rss_mb": "idle_rss_mb",
    "stepped_rss_mb": "step_rss_mb",
    "clock_within_ms": "clock_uncertainty_ms",
}


def as_today(values: dict[str, Any], schema: int) -> dict[str, Any]:
    """The object of a file."""
    return _run(values, schema) if "study" in values else _trial(values, schema)


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        return {RENAMED.get(key, key): _renamed(inner) for key, inner in value.items()}
    return [_renamed(inner) for inner in value] if isinstance(value, list) else value


def _keys(values: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): inner for key, inner in values.items()}


def _trial(values: dict[str, Any], schema: int) -> dict[str, Any]:
    if result := values.get("result"):
        if schema < 4:
            result = {"backlog": [], "connections": None, "journeys": None, **result}
        result["generator"] = _renamed(result["generator"])
        if result["connections"]:
            result["connections"] = _keys(result["connections"], {"wanted": "requested", "said": "reason"})
        values["result"] = result
    values["evidence"] = _keys(_renamed(values["evidence"]), {"beside": "other_hosts"})
    values["processes"] = _renamed(values["processes"])
    if (meanwhile := values.get("meanwhile")) and meanwhile["origin"]:
        stages = meanwhile["origin"]["stages"]
        meanwhile["origin"]["stages"] = [_keys(stage, {"told": "text", "well": "healthy"}) for stage in stages]
    return values


def _run(values: dict[str, Any], schema: int) -> dict[str, Any]:
    if schema < 4:
        values["study"].setdefault("at_once", 0)
    for name in ("servers", "clients", "service_hosts"):
        if values.get(name):
            values[name] = _renamed(values[name])
    return values
