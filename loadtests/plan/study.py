"""Define studies, which consist of setups, tests and blocks.

A study is read from TOML, checked once, and never changed.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from loadtests.errors import UserError, quoted, shown_end, unknown
from loadtests.files import STUDIES
from loadtests.formatting import plural, series
from loadtests.plan import kinds
from loadtests.plan import sweep as sweeps
from loadtests.plan.entries import Entry, alike, from_list, from_sweep
from loadtests.plan.fields import TablePlace
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.journey import JourneyTest
from loadtests.plan.study_table import MAX_BLOCKS as MAX_BLOCKS
from loadtests.plan.study_table import QUICK_BLOCKS, StudyTable
from loadtests.plan.sweep import Sweep
from loadtests.records import decode
from loadtests.records.bounds import Count, FileName, Name, Ordinal, Share
from loadtests.setups import deployed
from loadtests.setups.reading import find, require_used
from loadtests.setups.variants import Variant
from loadtests.workload import Request, SignIn

# A run with this many trials takes days, so a larger number is a mistake.
MAX_TRIALS = 10_000
# The share of the free memory for idle setups. Under load, the setups need the rest.
MEMORY_SHARE = 0.5


@dataclasses.dataclass(frozen=True)
class Study:
    """The setups, tests and blocks of a comparison. In a sweep, the setups are the cells of one setup."""

    name: FileName
    title: str
    question: str
    baseline: Name
    entries: tuple[Entry, ...]
    tests: tuple[Test, ...]
    blocks: Count
    delta: Share
    sweep: Sweep | None = None
    interleave: bool = False
    """Whether load on the setups of a block is interleaved, in tests that support it."""
    quick_blocks: Ordinal = QUICK_BLOCKS
    """The maximum number of blocks with ``--quick``."""

    def to_dict(self) -> dict[str, Any]:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            **fields,
            "entries": [dataclasses.asdict(entry) for entry in self.entries],
            "tests": [test.record() for test in self.tests],
            "sweep": dataclasses.asdict(self.sweep) if self.sweep else None,
        }

    def interleaved(self, test: Test) -> bool:
        """Return whether the setups of a block run at the same time in a test, with alternating load."""
        return self.interleave and test.can_interleave

    @property
    def in_pairs(self) -> bool:
        """Whether some setups are compared with a setup other than the baseline."""
        return any(entry.against for entry in self.entries)

    def within_memory(self, needed_mb: float, free_mb: float) -> Study:
        """Return the study, without interleaving if its setups need too much memory to run at the same time."""
        return self if needed_mb <= MEMORY_SHARE * free_mb else dataclasses.replace(self, interleave=False)

    @property
    def most_trials(self) -> int:
        return len(self.entries) * len(self.tests) * self.blocks

    def require_feasible(self, where: str) -> None:
        """Check the number of trials. ``where`` is the start of the error message.

        Raises:
            UserError: If the study has more trials than a run may have.
        """
        if self.most_trials > MAX_TRIALS:
            setups, tests, blocks = plural(len(self.entries), "setup"), plural(len(self.tests), "test"), self.blocks
            of = f"{setups} × {tests} × {plural(blocks, 'block')}"
            raise UserError(f"{where}: {of} make {self.most_trials:,} trials. A run can have at most {MAX_TRIALS:,}")

    def with_requests(self, requests: tuple[Request, ...]) -> Study:
        """Return the study with these requests in all tests and without recorded times.

        Without requests, return the same study.
        """
        if not requests:
            return self
        return dataclasses.replace(self, tests=tuple(test.with_requests(requests) for test in self.tests))

    def with_bodies(self) -> Study:
        tests = tuple(test.with_bodies() for test in self.tests)
        return dataclasses.replace(self, tests=tests)

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Study:
        """Return the study with another journey or another login for its users.

        Args:
            file: The file of the journey. None keeps the tests' journeys.
            sign_in: The way to log in, if any.

        Raises:
            UserError: If no test has a journey.
        """
        tests = tuple(test.with_journey(file, sign_in) for test in self.tests)
        if file is not None and not any(isinstance(test, JourneyTest) for test in tests):
            raise UserError(f"{self.name} has no test with a journey. Use the study own-journey")
        return dataclasses.replace(self, tests=tests)

    def quick(self) -> Study:
        """Return the study with short trials and ``quick_blocks`` blocks, for a first check that everything works."""
        return dataclasses.replace(
            self,
            name=f"{self.name}-quick",
            title=f"{self.title} (quick)",
            tests=tuple(test.quick() for test in self.tests),
            blocks=min(self.quick_blocks, self.blocks),
        )

    @property
    def ceiling_tests(self) -> dict[str, Test]:
        """The searches for the slowest setup's ceiling, by the names of the tests whose rates depend on the ceiling.

        If several tests need the same search, the run makes it only once.
        """
        found: dict[str, Test] = {}
        for test in self.tests:
            if (search := test.ceiling_test) is not None:
                known = (one for one in found.values() if dataclasses.replace(search, name=one.name) == one)
                found[test.name] = next(known, search)
        return found

    def only(self, labels: Sequence[str]) -> Study:
        """Return the study with only these labels, in the study's order.

        A label that isn't in the study must be the name of a setup. The method adds this setup to the study.

        If the baseline isn't one of ``labels``, the first label becomes the baseline.

        For a sweep, ``labels`` must contain the name of one setup, which replaces the setup of all cells.

        Raises:
            UserError: If a label is unknown, or several setups are named for a sweep.
        """
        if self.sweep is not None:
            if len(labels) > 1:
                raise UserError(f"{self.name} is a sweep of a single setup. Name one setup with --setups")
            [setup] = find(labels)
            entries = tuple(dataclasses.replace(entry, setup=setup.name) for entry in self.entries)
            return dataclasses.replace(self, entries=entries, sweep=dataclasses.replace(self.sweep, setup=setup.name))
        known = {entry.label for entry in self.entries}
        others = [label for label in labels if label not in known]
        entries = (*self.entries, *(Entry(one.name, one.name, {}) for one in (find(others) if others else ())))
        kept = tuple(
            entry if entry.against in labels else dataclasses.replace(entry, against="")
            for entry in entries
            if entry.label in labels
        )
        baseline = self.baseline if self.baseline in labels else labels[0]
        return dataclasses.replace(self, entries=kept, baseline=baseline)

    def with_variants(self, variants: Sequence[Variant]) -> Study:
        """Return the study with a copy of each setup for each variant that changes the setup's environment.

        If the study lacks the setup of a deployed command, the method adds this setup.

        If variants change a setup other than the baseline, each copy is compared with its own unchanged setup. A
        deployed command is compared with the study's baseline, like the other setups.

        Raises:
            UserError: If the study is a sweep, a variant changes no setup, or two files or folders have the same name.
        """
        if not variants:
            return self
        if self.sweep is not None:
            raise UserError(f"{self.name} is a sweep of one setup. Use --variant only with a study of several setups")
        of_commands = {deployed.read(Path(one.file)).setup for one in variants if one.file}
        if added := sorted(of_commands - {entry.setup for entry in self.entries}):
            more = tuple(Entry(name, name, {}) for name in added)
            return dataclasses.replace(self, entries=(*self.entries, *more)).with_variants(variants)
        known = {setup.name: setup for setup in find(dict.fromkeys(entry.setup for entry in self.entries))}
        entries: list[Entry] = []
        for entry in self.entries:
            entries.append(entry)
            for variant in variants:
                if (twin := entry.twin(variant, known[entry.setup])) is None:
                    continue
                others = (one for one in [*self.entries, *entries] if twin.label == one.label or alike(twin, one))
                if (same := next(others, None)) is None:
                    entries.append(twin)
                elif (variant.file or variant.folder) and same.variant not in ((), twin.variant):
                    both = f"{shown_end(same.variant[-1])} and {shown_end(variant.text)}"
                    raise UserError(f"variant: {both} have the same label {twin.label}. Rename one of them")
        for variant in variants:
            if not any(variant.text in entry.variant for entry in entries):
                require_used(variant, list(known.values()))
        twins = {entry.label: entry.against for entry in entries if entry not in self.entries and entry.against}
        if twins and not self.in_pairs and {*twins.values()} == {self.baseline}:
            entries = [dataclasses.replace(entry, against="") for entry in entries]
        changed = series([one.name for one in variants])
        return dataclasses.replace(
            self,
            name=f"{self.name}-variant",
            title=f"{self.title}: {changed}",
            question=f"What does {changed} change?",
            entries=tuple(entries),
        )

    def with_copy(self) -> Study:
        """Return the study with its baseline under a second label, to show the machine's noise.

        If the study already contains a copy of the baseline, return the same study.
        """
        baseline = next(entry for entry in self.entries if entry.label == self.baseline)
        twins = [entry for entry in self.entries if alike(entry, baseline)]
        if len(twins) > 1:
            return self
        copy = dataclasses.replace(baseline, label=f"{baseline.label[:80]}-again", against="")
        return dataclasses.replace(self, entries=(*self.entries, copy))


def names() -> list[str]:
    return sorted(file.stem for file in STUDIES.glob("*.toml"))


def load(name_or_path: str) -> Study:
    """Read the study with this name, or the study in this TOML file.

    Raises:
        UserError: If the study isn't valid. The message contains the file, the key and the allowed values.
    """
    if name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        if not os.path.exists(path):  # also false for names that no file can have
            raise UserError(f"the study file {path} doesn't exist")
    elif name_or_path in names():
        path = STUDIES / f"{name_or_path}.toml"
    else:
        raise unknown("study", name_or_path, names())
    return parse(decode.read_toml(path), path.stem, str(path))


def parse(values: dict[str, Any], name: str, where: str) -> Study:
    """Create a study from a TOML table. ``where`` is the name of the file in messages.

    Raises:
        UserError: If the table isn't valid.
    """
    table = decode.convert(values, StudyTable, where)
    sweep = None if table.sweep is None else sweeps.parse(table.sweep, where)
    entries = from_list(table.setups or [], where) if sweep is None else from_sweep(sweep, where)
    labels = [entry.label for entry in entries]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"{where}: setups: two setups have the label {label!r}. Change one of them")
    baseline = labels[0] if table.baseline is None else table.baseline
    for key, label in (("baseline", baseline), *(("against", entry.against) for entry in entries if entry.against)):
        if label not in labels:
            raise UserError(f"{where}: {key}: {quoted(label)} is not one of the setups ({', '.join(labels)})")
    if alone := [entry.label for entry in entries if entry.against == entry.label]:
        raise UserError(f"{where}: against: {quoted(alone[0])} can't be compared with itself")
    study = Study(
        name=name,
        title=name if table.title is None else table.title,
        question=table.question,
        baseline=baseline,
        entries=entries,
        tests=tuple(_test(key, test, where) for key, test in table.tests.items()),
        blocks=table.blocks,
        delta=table.delta,
        sweep=sweep,
        interleave=table.interleave,
        quick_blocks=table.quick_blocks,
    )
    study = study.with_copy() if table.aa else study
    study.require_feasible(where)
    return study


def from_dict(values: dict[str, Any]) -> Study:
    """Create a study from the values of ``Study.to_dict``, as in run.json.

    Raises:
        ValueError: If a value isn't valid.
        UserError: If a kind of test is unknown.
    """
    study = msgspec.convert({**values, "tests": []}, Study)
    return dataclasses.replace(study, tests=tuple(kinds.from_record(test) for test in values["tests"]))


def _test(name: str, values: Mapping[str, Any], where: str) -> Test:
    place = TablePlace(where, f"tests.{name}.")
    known = kinds.known()
    kind = values.get("kind", name if name in known else None)
    if not isinstance(kind, str) or kind not in known:
        given = "" if kind is None else f", not {quoted(kind)}"
        raise place.error(f"kind: must be one of {', '.join(known)}{given}")
    return known[kind].parse(name, values, place)
