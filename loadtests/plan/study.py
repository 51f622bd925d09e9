"""Studies: which setups, which tests, how many blocks. Read from TOML, checked once, never changed after."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from loadtests.errors import UserError, quoted, shown, unknown
from loadtests.files import STUDIES
from loadtests.formatting import plural
from loadtests.plan import kinds
from loadtests.plan import sweep as sweeps
from loadtests.plan.entries import LABEL, LABELS_ARE, Entry, alike, from_list, from_sweep, require_baselines
from loadtests.plan.fields import TablePlace
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.journey_work import JourneyWork
from loadtests.plan.study_table import LEAST_AT_ONCE as LEAST_AT_ONCE
from loadtests.plan.study_table import MOST_BLOCKS as MOST_BLOCKS
from loadtests.plan.study_table import QUICK_BLOCKS, StudyTable
from loadtests.plan.sweep import Sweep
from loadtests.records import decode
from loadtests.records.bounds import Count, FileName, Name, Ordinal, Positive, Share
from loadtests.records.decode import duration as duration
from loadtests.setups.reading import HOPLESS
from loadtests.workload import Request, SignIn

# A run of that many trials takes days; what is more is a mistake, or somebody's joke.
MOST_TRIALS = 10_000


@dataclasses.dataclass(frozen=True)
class Study:
    """Setups times tests times blocks; the setups are one setup's cells where it is a sweep."""

    name: FileName
    title: str
    question: str
    baseline: Name
    entries: tuple[Entry, ...]
    tests: tuple[Test, ...]
    blocks: Count
    delta: Share
    price_per_core_hour: Positive | None
    sweep: Sweep | None = None
    interleave: bool = False
    """Whether load on the setups of a block is interleaved, where a test can be; else they run one after the other."""
    at_once: Count = 0
    """How many of them run at once at the most, the baseline among them; 0: all."""
    quick_blocks: Ordinal = QUICK_BLOCKS
    """How many blocks are made with ``--quick``, if there are as many."""

    def to_dict(self) -> dict[str, Any]:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            **fields,
            "entries": [dataclasses.asdict(entry) for entry in self.entries],
            "tests": [test.record() for test in self.tests],
            "sweep": dataclasses.asdict(self.sweep) if self.sweep else None,
        }

    def interleaved(self, test: Test) -> bool:
        """Whether the setups of a block run at once in a test, with their load interleaved."""
        return self.interleave and test.can_interleave

    @property
    def in_pairs(self) -> bool:
        """Whether some of its setups are compared with one of their own, in place of the baseline."""
        return any(entry.against for entry in self.entries)

    @property
    def groups(self) -> int:
        """Into how many groups its setups are dealt that run at once, the baseline in each (``plan.concurrency``)."""
        together = self.interleave and self.at_once and any(test.can_interleave for test in self.tests)
        return max(1, math.ceil((len(self.entries) - 1) / (self.at_once - 1))) if together else 1

    @property
    def most_trials(self) -> int:
        return (len(self.entries) + self.groups - 1) * len(self.tests) * self.blocks

    def require_feasible(self, where: str) -> None:
        """Raises UserError where it has more trials than a run may have; ``where`` begins the message."""
        _require_few(len(self.entries), len(self.tests), self.blocks, where, self.most_trials)

    def with_requests(self, requests: tuple[Request, ...]) -> Study:
        """The study with these requests in all of its tests, none of them recorded; as it is where there are none."""
        if not requests:
            return self
        return dataclasses.replace(self, tests=tuple(test.with_requests(requests) for test in self.tests))

    def with_bodies(self) -> Study:
        tests = tuple(dataclasses.replace(test, work=test.work.with_bodies()) for test in self.tests)
        return dataclasses.replace(self, tests=tests)

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Study:
        """The study with the users of its journeys on the one in a file (their own where there is none), signing in so.
        Raises UserError where none of its tests has users."""
        tests = tuple(test.with_journey(file, sign_in) for test in self.tests)
        if not any(isinstance(test.work, JourneyWork) for test in tests):
            raise UserError(f"{self.name} has no test whose users run a journey; own-journey has some")
        return dataclasses.replace(self, tests=tests)

    def quick(self) -> Study:
        """The study with short trials and few blocks, a single pair unless it says otherwise: a first look at whether
        all works."""
        return dataclasses.replace(
            self,
            name=f"{self.name}-quick",
            title=f"{self.title} (quick)",
            tests=tuple(test.quick() for test in self.tests),
            blocks=min(self.quick_blocks, self.blocks),
        )

    @property
    def ceiling_tests(self) -> dict[str, Test]:
        """By the names of the tests whose rate is a share of what the slowest setup holds, which is not known yet, the
        test that finds it: the same one for all that ask the same."""
        found: dict[str, Test] = {}
        for test in self.tests:
            if (search := test.ceiling_test) is not None:
                known = (one for one in found.values() if dataclasses.replace(search, name=one.name) == one)
                found[test.name] = next(known, search)
        return found

    def only(self, labels: Sequence[str]) -> Study:
        """The study with the entries of these labels, in its own order; after a label HOPLESS asks for the same served
        through hopless. Where its baseline is none of them, the first of ``labels`` is. Raises UserError for a label
        that it does not have, and where it is a sweep."""
        if self.sweep is not None:
            raise UserError(f"{self.name} is a sweep, whose cells are compared as a whole; it cannot do without some")
        known = [entry.label for entry in self.entries]
        entries = self.with_hopless().entries
        for label in labels:
            if label not in (entry.label for entry in entries):
                raise unknown(f"setup in {self.name}", label, known)
        kept = tuple(
            entry if entry.against in labels else dataclasses.replace(entry, against="")
            for entry in entries
            if entry.label in labels
        )
        baseline = self.baseline if self.baseline in labels else labels[0]
        return dataclasses.replace(self, entries=kept, baseline=baseline)

    def with_hopless(self) -> Study:
        """The study with each setup twice, the second time served through hopless; those are left as they are that are
        so already, or have a knob of that name. Raises UserError where it is a sweep."""
        if self.sweep is not None:
            raise UserError(f"{self.name} is a sweep of one setup; a sweep of {self.sweep.setup}{HOPLESS} is another")
        known = list(self.entries)
        entries: list[Entry] = []
        for entry in self.entries:
            entries.append(entry)
            against = entry.label if self.in_pairs else ""
            twin = Entry(f"{entry.label}{HOPLESS}", f"{entry.setup}{HOPLESS}", entry.env, against)
            plain = not entry.setup.endswith(HOPLESS) and "HOPLESS" not in entry.env
            if plain and not any(twin.label == one.label or alike(twin, one) for one in known):
                known.append(twin)
                entries.append(twin)
        return dataclasses.replace(self, entries=tuple(entries))

    def with_copy(self) -> Study:
        """The study with its baseline under a second label, so that it shows the machine's noise; once is enough."""
        baseline = next(entry for entry in self.entries if entry.label == self.baseline)
        twins = [entry for entry in self.entries if alike(entry, baseline)]
        if len(twins) > 1:
            return self
        copy = dataclasses.replace(baseline, label=f"{baseline.label}-again", against="")
        return dataclasses.replace(self, entries=(*self.entries, copy))


def names() -> list[str]:
    return sorted(file.stem for file in STUDIES.glob("*.toml"))


def load(name_or_path: str) -> Study:
    """The study of that name, or in that TOML file. Raises UserError: file, key, what is allowed."""
    if name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        if not os.path.exists(path):  # false, too, for a name that no file can have
            raise UserError(f"there is no study file {path}")
    elif name_or_path in names():
        path = STUDIES / f"{name_or_path}.toml"
    else:
        raise unknown("study", name_or_path, names())
    return parse(decode.read_toml(path), path.stem, str(path))


def parse(values: dict[str, Any], name: str, where: str) -> Study:
    """The study in a TOML table; ``where`` is what error messages call the file. Raises UserError."""
    table = decode.convert(values, StudyTable, where)
    # Before thousands of setups and tests are read one by one, which takes long.
    _require_few(len(table.setups or [""]), len(table.tests), table.blocks, where)
    sweep = None if table.sweep is None else sweeps.parse(table.sweep, where)
    entries = from_list(table.setups or [], where) if sweep is None else from_sweep(sweep, where)
    labels = [entry.label for entry in entries]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"{where}: setups: two have the label {label!r}; give one of them another")
    baseline = labels[0] if table.baseline is None else table.baseline
    if baseline not in labels:
        raise UserError(f"{where}: baseline: {baseline!r} is not one of the setups ({', '.join(labels)})")
    if table.at_once is not None and any(entry.against for entry in entries):
        raise UserError(f"{where}: at_once: is given with setups that are compared in pairs, which run at once")
    require_baselines(entries, where)
    study = Study(
        name=name,
        title=name if table.title is None else table.title,
        question=table.question,
        baseline=baseline,
        entries=entries,
        tests=tuple(_test(key, test, where) for key, test in table.tests.items()),
        blocks=table.blocks,
        delta=table.delta,
        price_per_core_hour=table.price_per_core_hour,
        sweep=sweep,
        interleave=table.interleave,
        at_once=0 if table.at_once is None or table.at_once >= len(entries) else table.at_once,
        quick_blocks=table.quick_blocks,
    )
    study = study.with_copy() if table.aa else study
    study.require_feasible(where)
    return study


def _require_few(setups: int, tests: int, blocks: int, where: str, trials: int = 0) -> None:
    trials = trials or setups * tests * blocks
    if trials > MOST_TRIALS:
        of = f"{plural(setups, 'setup')} × {plural(tests, 'test')} × {plural(blocks, 'block')}"
        raise UserError(f"{where}: {of} are {trials:,} trials; a run may have {MOST_TRIALS:,}")


def from_dict(values: dict[str, Any]) -> Study:
    """The study that ``Study.to_dict`` gave, as run.json keeps it. Raises ValueError, or as ``kinds.from_record``."""
    study = msgspec.convert({**values, "tests": []}, Study)
    return dataclasses.replace(study, tests=tuple(kinds.from_record(test) for test in values["tests"]))


def _test(name: str, values: Mapping[str, Any], where: str) -> Test:
    place = TablePlace(where, f"tests.{name}.")
    if not LABEL.fullmatch(name):
        raise UserError(f"{where}: tests.{shown(name)}: {LABELS_ARE} in a test's name")
    known = kinds.known()
    kind = values.get("kind", name if name in known else None)
    if kind is None:
        raise place.error(f"kind: is missing; allowed: {', '.join(known)}")
    if not isinstance(kind, str) or kind not in known:
        raise place.error(f"kind: is {quoted(kind)}; allowed: {', '.join(known)}")
    return known[kind].parse(name, values, place)
