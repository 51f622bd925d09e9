"""Find the committed runs for a build, by study, with the newest run first."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

from loadtests.analyse.results import Results
from loadtests.errors import UserError
from loadtests.records.run.folder import Run
from loadtests.report import page as pages
from loadtests.report.sections.overview import database_in_short, machine_in_short
from loadtests.report.view import Page

RESULTS = Path(__file__).resolve().parents[2] / "results"
REPORT = ("index.rst", "summary.csv", "charts")


@dataclasses.dataclass(frozen=True)
class Reference:
    """A committed run. Its trials are read and its page is composed on first use, because both take a long time."""

    run: Run

    @property
    def name(self) -> str:
        """The name of the folder in results/ and docs/results/."""
        return self.run.path.name

    @cached_property
    def results(self) -> Results:
        """The results of the run.

        Raises:
            ExtensionError: If a trial can't be read.
        """
        with _complete(self.name):
            return Results(self.run)

    @cached_property
    def page(self) -> Page:
        """The report of the run.

        Raises:
            ExtensionError: If the run has no valid trial, or files of the report are missing.
        """
        page, where = pages.compose(self.results), f"results/{self.name}"
        if not page.findings:
            raise ExtensionError(f"{where} has no valid trial, so it shows nothing. Repeat the run or remove it")
        needed = [*REPORT, *(f"charts/{chart.name}.svg" for chart in page.charts)]
        if missing := ", ".join(part for part in needed if not (self.run.path / part).exists()):
            how = f"`python -m loadtests report --rebuild {where}`"
            raise ExtensionError(f"{where} lacks {missing}. Create them: {how}")
        return page

    @property
    def study(self) -> str:
        """The name of the study, with the database unless it is SQLite."""
        return "-".join([self.run.record.study.name, *map(str.lower, database_in_short(self.run.record))])

    @property
    def date(self) -> str:
        """The day of the run, as year-month-day."""
        return self.run.record.created[:10]

    @property
    def title(self) -> str:
        """The title of the study, with the database unless it is SQLite."""
        return ", ".join([self.page.title, *database_in_short(self.run.record)])

    @property
    def machine(self) -> str:
        """The machine, such as ``AMD EPYC, 2 cores``, with the database unless it is SQLite."""
        machine = machine_in_short(self.run.record.machine).split(", ")[:2]
        return ", ".join([*machine, *database_in_short(self.run.record)])

    @property
    def verdict(self) -> str:
        """A line with the result: setups that can't sustain a load, a sweep's advice, or the first certain answer."""
        if overloads := [one for one in self.page.top.failed if one.startswith("Cannot sustain the load")]:
            return overloads[0]
        found = self.page.findings
        certain = found if self.results.study.sweep else [one for one in found if one.certain]
        best = [*certain, *found][0]
        return f"{best.question}: {best.brief or best.answer}"


class References:
    """The committed runs of all studies, and the committed profiles."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def folders(self) -> list[Path]:
        """The paths of all reference folders, with the newest folder first."""
        return sorted((path for path in self.folder.glob("reference-*") if path.is_dir()), reverse=True)

    @cached_property
    def profiles(self) -> list[Path]:
        """The paths of the profiles' folders. Profiles don't belong to a study, so they have their own pages."""
        return [path for path in self.folders if not (path / "run.json").is_file() and _is_profile(path)]

    @cached_property
    def studies(self) -> dict[str, list[Reference]]:
        """The runs of each study, with the newest run first.

        Raises:
            ExtensionError: If a run is incomplete.
        """
        found: dict[str, list[Reference]] = {}
        runs = [_read(path) for path in self.folders if path not in self.profiles]
        for one in sorted(runs, key=lambda one: one.run.record.created, reverse=True):
            found.setdefault(one.study, []).append(one)
        return dict(sorted(found.items()))

    def newest(self, study: str) -> Results:
        """Return the results of a study's newest run.

        Raises:
            LookupError: If the study has no run. The message lists the studies with runs.
        """
        if study not in self.studies:
            raise LookupError(f"there is no reference run of a study {study!r}. Reference runs: {self._names}")
        return self.studies[study][0].results

    @property
    def _names(self) -> str:
        return ", ".join(self.studies) or "none"


def newest_profile(setup: str, path: str | None) -> tuple[str, dict[str, Any]]:
    """Return the newest profile of a setup: the folder's name, and the content of profile.json.

    If ``path`` is set, ignore profiles of other paths.

    Raises:
        LookupError: If there is no such profile.
    """
    found = [(one.name, json.loads((one / "profile.json").read_text("utf-8"))) for one in REFERENCES.profiles]
    found = [one for one in found if one[1]["setup"] == setup and path in (None, one[1]["path"])]
    if not found:
        raise LookupError(f"there is no reference profile of {setup}{f' at {path}' if path else ''}")
    return max(found, key=lambda one: str(one[1]["created"]))


def _is_profile(path: Path) -> bool:
    return (path / "profile.json").is_file() and (path / "index.rst").is_file()


def _read(path: Path) -> Reference:
    where = f"results/{path.name}"
    if not (path / "run.json").is_file():
        raise ExtensionError(
            f"{where} has neither run.json nor, as a profile, profile.json and index.rst. Complete it or remove it"
        )
    with _complete(path.name):
        run = Run.open(path)
    if run.record.ended is None:
        raise ExtensionError(
            f"{where} is not a finished run. Continue it with `python -m loadtests run --resume {where}` or remove it"
        )
    return Reference(run)


@contextlib.contextmanager
def _complete(name: str) -> Iterator[None]:
    """Raise an ExtensionError that names the run if a file of the run can't be read."""
    try:
        yield
    except UserError as error:
        raise ExtensionError(f"results/{name} is not a complete run: {error}. Complete it or remove it") from None


REFERENCES = References(RESULTS)  # all modules of a build use these committed runs
