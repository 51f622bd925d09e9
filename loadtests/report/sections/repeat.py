"""How to repeat a run exactly: revision, command and seed, and what it stood on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from loadtests.analyse.results import Results
from loadtests.report import tables
from loadtests.report.view import Section, Table
from loadtests.report.words import plural


def section(results: Results) -> Section:
    """The commands, the software, and in full the packages and each setup's supervisor configuration."""
    about = results.about
    git, versions = about.get("git") or {}, about.get("versions") or {}
    dirty = " with changes that were not committed, so it cannot be repeated exactly" if git.get("dirty") else ""
    revision = f"Revision {git['revision']}{dirty}." if git.get("revision") else "The revision is not known."
    checkout = [f"git checkout {git['revision']}"] if git.get("revision") else []
    software = tables.flat({name: _counted(value) for name, value in versions.items()})
    packages = [
        (name.replace("_", " ").capitalize(), "\n".join(f"{package}=={version}" for package, version in value.items()))
        for name, value in versions.items()
        if isinstance(value, dict) and value
    ]
    return Section(
        "repeat",
        "How to repeat it exactly",
        (f"{revision} The order of trials comes from the seed {about['seed']}.",),
        (Table("software", "Software", ("what", "version"), tables.pairs(software)),) if software else (),
        commands=(*checkout, "make setup", command(about)),
        folded=(*packages, *_configurations(results)),
    )


def command(about: Mapping[str, Any]) -> str:
    """The command that was given, with the seed and the environment that it was given under."""
    given = str(about["command"])
    seed = "" if "--seed" in given else f" --seed {about['seed']}"
    knobs = "".join(f"{key}={shlex.quote(str(value))} " for key, value in (about.get("knobs") or {}).items())
    return f"{knobs}{given}{seed}"


def _counted(value: Any) -> Any:
    return f"{plural(len(value), 'package')}, listed in report.html" if isinstance(value, dict) else value


def _configurations(results: Results) -> list[tuple[str, str]]:
    """Each setup's supervisor file, once, however many labels it runs under."""
    found = {entry["setup"]: results.setup(entry["label"]).get("config") for entry in results.study["entries"]}
    return [(f"supervisor/conf.d/{setup}.conf", config.strip()) for setup, config in found.items() if config]
