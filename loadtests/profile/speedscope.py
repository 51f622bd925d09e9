"""The samples of a role in the file format of speedscope (https://www.speedscope.app), an interactive viewer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadtests.profile.stacks import Frame, Stacks

FORMAT = "https://www.speedscope.app/file-format-schema.json"
NOTHING = Frame("no Python frame", "")


def document(name: str, profiles: Mapping[str, tuple[Stacks, float]]) -> dict[str, Any]:
    """One file of several profiles, each by its title: the stacks, and how many seconds a sample stands for."""
    places: dict[Frame, int] = {}
    converted = []
    for title, (stacks, seconds) in profiles.items():
        ordered = sorted(stacks.items())
        converted.append(
            {
                "type": "sampled",
                "name": title,
                "unit": "seconds",
                "startValue": 0,
                "endValue": round(sum(stacks.values()) * seconds, 6),
                "samples": [
                    [places.setdefault(frame, len(places)) for frame in stack or (NOTHING,)] for stack, _ in ordered
                ],
                "weights": [round(count * seconds, 6) for _, count in ordered],
            }
        )
    return {
        "$schema": FORMAT,
        "name": name,
        "activeProfileIndex": 0,
        "exporter": "python -m loadtests profile",
        "shared": {"frames": [_frame(frame) for frame in places]},
        "profiles": converted,
    }


def _frame(frame: Frame) -> dict[str, Any]:
    return {"name": frame.name, "file": frame.file, **({"line": frame.line} if frame.line else {})}
