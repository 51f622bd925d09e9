"""What a shell completes: the names of studies, setups and runs. Each press of the Tab key asks anew, so the names are
those of files, and nothing is read."""

from __future__ import annotations

from collections.abc import Iterable

from loadtests import files


def studies(incomplete: str) -> list[str]:
    """The studies that come with the project; for the rest, the shell completes files."""
    return _beginning(incomplete, (file.stem for file in files.STUDIES.glob("*.toml")))


def setups(incomplete: str) -> list[str]:
    """The setups."""
    return _beginning(incomplete, (file.stem for file in (files.SUPERVISOR / "conf.d").glob("*.conf")))


def setups_and_studies(incomplete: str) -> list[str]:
    """The setups, and the studies that come with the project."""
    return [*setups(incomplete), *studies(incomplete)]


def setup_list(incomplete: str) -> list[str]:
    """The last of a list of setups, after what stands before it: ``gunicorn,uv``."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in setups(last) if name not in before.split(",")]


def runs(incomplete: str) -> list[str]:
    """The runs in results/."""
    return _beginning(incomplete, (file.parent.name for file in files.RESULTS.glob("*/run.json")))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
