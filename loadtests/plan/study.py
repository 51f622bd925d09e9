"""Studies: which setups, which tests, how many blocks. Read from TOML, checked once, never changed after."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from loadtests.errors import UserError, quoted, shown, unknown
from loadtests.files import STUDIES
from loadtests.formatting import plural
from loadtests.plan import kinds
from loadtests.plan import sweep as sweeps
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.walking import WalkingTest
from loadtests.plan.sweep import Sweep
from loadtests.records import toml
from loadtests.records.bounds import Count, FileName, Name, Ordinal, Positive, Share, Variable
from loadtests.records.toml import TomlTable
from loadtests.records.toml import duration as duration
from loadtests.setups.knobs import SERVERS
from loadtests.workload import Request, SignIn

THE_RUNS_OWN = {"BIND", "PORT", "CORES", "RUN_DIR", "DATABASE_URL"}
# A run of so many trials takes days; what is more is a mistake, or somebody's joke.
MOST_BLOCKS = 10_000
MOST_TRIALS = 10_000
QUICK_BLOCKS = 2
LEAST_AT_ONCE = 2  # the baseline and what is compared with it
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Labels and tests' names are parts of files' names, of which there are two in 255 bytes.
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]{0,79}")
LABELS_ARE = "1 to 80 letters, digits and . _ + - = are allowed"


@dataclasses.dataclass(frozen=True)
class Entry:
    """A setup in a study, under a label, with the knobs (environment variables) it is started with."""

    label: Name
    setup: str
    env: dict[Variable, str]


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
    """The setups of a block run at once and are measured by turns, where a test can be; else one after the other."""
    at_once: Count = 0
    """How many of them run at once at the most, the baseline among them; 0: all."""
    quick_blocks: Ordinal = QUICK_BLOCKS
    """How many blocks are made with ``--quick``, if there are as many."""

    def to_dict(self) -> dict[str, Any]:
        """The study as run.json keeps it."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            **fields,
            "entries": [dataclasses.asdict(entry) for entry in self.entries],
            "tests": [test.record() for test in self.tests],
            "sweep": dataclasses.asdict(self.sweep) if self.sweep else None,
        }

    def interleaved(self, test: Test) -> bool:
        """Whether the setups of a block run at once in a test, and are measured by turns."""
        return self.interleave and test.can_interleave

    @property
    def groups(self) -> int:
        """Into how many groups its setups are dealt that run at once, the baseline in each (``plan.concurrency``)."""
        together = self.interleave and self.at_once and any(test.can_interleave for test in self.tests)
        return max(1, math.ceil((len(self.entries) - 1) / (self.at_once - 1))) if together else 1

    @property
    def most_trials(self) -> int:
        """How many trials it has at the most."""
        return (len(self.entries) + self.groups - 1) * len(self.tests) * self.blocks

    def require_feasible(self, where: str) -> None:
        """Raises UserError where it has more trials than a run may have; ``where`` begins the message."""
        trials = self.most_trials
        if trials > MOST_TRIALS:
            of = f"{plural(len(self.entries), 'setup')} × {plural(len(self.tests), 'test')}"
            raise UserError(
                f"{where}: {of} × {plural(self.blocks, 'block')} are {trials:,} trials; a run may have {MOST_TRIALS:,}"
            )

    def with_requests(self, requests: tuple[Request, ...]) -> Study:
        """The study with these requests in all of its tests, none of them recorded; as it is where there are none."""
        if not requests:
            return self
        return dataclasses.replace(self, tests=tuple(test.with_requests(requests) for test in self.tests))

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Study:
        """The study with the users of its journeys on the one in a file (their own where there is none), signing in so.
        Raises UserError where none of its tests has users."""
        tests = tuple(test.with_journey(file, sign_in) for test in self.tests)
        if not any(isinstance(test, WalkingTest) for test in tests):
            raise UserError(f"{self.name} has no test whose users walk a journey; own-journey has some")
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
        """The study with the entries of these labels, in its own order. Where its baseline is none of them, the first
        of ``labels`` is. Raises UserError for a label that it does not have, and where it is a sweep."""
        if self.sweep is not None:
            raise UserError(f"{self.name} is a sweep, whose cells are compared as a whole; it cannot do without some")
        known = [entry.label for entry in self.entries]
        for label in labels:
            if label not in known:
                raise unknown(f"setup in {self.name}", label, known)
        kept = tuple(entry for entry in self.entries if entry.label in labels)
        baseline = self.baseline if self.baseline in labels else labels[0]
        return dataclasses.replace(self, entries=kept, baseline=baseline)

    def with_copy(self) -> Study:
        """The study with its baseline under a second label, so that it shows the machine's noise; once is enough."""
        baseline = next(entry for entry in self.entries if entry.label == self.baseline)
        twins = [entry for entry in self.entries if (entry.setup, entry.env) == (baseline.setup, baseline.env)]
        if len(twins) > 1:
            return self
        twin = dataclasses.replace(baseline, label=f"{baseline.label}-again")
        return dataclasses.replace(self, entries=(*self.entries, twin))


def names() -> list[str]:
    """The names of the studies that come with the project."""
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
    return parse(toml.read(path), path.stem, str(path))


def parse(table: dict[str, Any], name: str, where: str) -> Study:
    """The study in a TOML table; ``where`` is what error messages call the file. Raises UserError."""
    top = TomlTable(table, where)
    sweep, entries = _entries(top, where)
    labels = [entry.label for entry in entries]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"{where}: setups: two have the label {label!r}; give one of them another")
    baseline = top.take("baseline", str, labels[0])
    if baseline not in labels:
        raise UserError(f"{where}: baseline: {baseline!r} is not one of the setups ({', '.join(labels)})")
    tests = tuple(_test(key, value, where) for key, value in top.take("tests", dict).items())
    if not tests:
        raise UserError(f"{where}: tests: at least one is needed")
    study = Study(
        name=name,
        title=top.take("title", str, name),
        question=top.take("question", str, ""),
        baseline=baseline,
        entries=entries,
        tests=tests,
        blocks=top.whole("blocks", 2, MOST_BLOCKS),
        delta=top.share("delta", 0.03),
        price_per_core_hour=top.positive("price_per_core_hour", None),
        sweep=sweep,
        interleave=top.take("interleave", bool, True),
        at_once=_at_once(top, sweep, len(entries)),
        quick_blocks=top.whole("quick_blocks", QUICK_BLOCKS, MOST_BLOCKS),
    )
    twin = top.take("aa", bool, False)
    top.nothing_else()
    study = study.with_copy() if twin else study
    study.require_feasible(where)
    return study


def from_dict(values: dict[str, Any]) -> Study:
    """The study that ``Study.to_dict`` gave, as run.json keeps it. Raises ValueError, or as ``kinds.from_record``."""
    study = msgspec.convert({**values, "tests": []}, Study)
    return dataclasses.replace(study, tests=tuple(kinds.from_record(test) for test in values["tests"]))


def _at_once(top: TomlTable, sweep: Sweep | None, entries: int) -> int:
    """``at_once``, 0 where that is all. Raises UserError."""
    most = top.take("at_once", int, None)
    if most is not None and sweep is not None:
        raise top.error("at_once", "is given in a sweep, whose cells are compared as a whole; set interleave = false")
    if most is not None and most < LEAST_AT_ONCE:
        raise top.error("at_once", f"is {most}; {LEAST_AT_ONCE} or more are needed, or interleave = false")
    return 0 if most is None or most >= entries else most


def _entries(top: TomlTable, where: str) -> tuple[Sweep | None, tuple[Entry, ...]]:
    table = top.take("sweep", dict, None)
    if table is None:
        listed = top.take("setups", list)
        if len(listed) > sweeps.MOST_CELLS:
            raise top.error("setups", f"holds {len(listed):,}; {sweeps.MOST_CELLS:,} are allowed")
        if not listed:
            raise UserError(f"{where}: setups: at least one is needed")
        return None, tuple(_entry(item, where) for item in listed)
    if top.take("setups", list, None) is not None:
        raise UserError(f"{where}: setups: is given together with sweep; a study has one or the other")
    sweep = sweeps.parse(table, where)
    return sweep, tuple(_entry(cell, where, "sweep.") for cell in sweep.cells())


def _entry(item: object, where: str, prefix: str = "setups.") -> Entry:
    if isinstance(item, str):
        item = {"setup": item}
    if not isinstance(item, dict):
        raise UserError(f"{where}: setups: {item!r} is neither a name nor a table with a key 'setup'")
    table = TomlTable(item, where, prefix)
    setup = table.take("setup", str)
    label = table.take("label", str, setup)
    if not LABEL.fullmatch(label):
        raise UserError(f"{where}: {prefix}label: {quoted(label)}; {LABELS_ARE}")
    env = _environment(table)
    table.nothing_else()
    return Entry(label, setup, env)


def _environment(table: TomlTable) -> dict[str, str]:
    """The knobs of an entry. Raises UserError for one that is no environment variable, or that no server can take."""
    env: dict[str, str] = {}
    for key, value in table.take("env", dict, {}).items():
        if key in THE_RUNS_OWN:
            raise table.error(f"env.{key}", "is the same for the whole run; set it in the environment of `run`")
        if not VARIABLE.fullmatch(key):
            raise table.error(f"env.{shown(key)}", "is no name of an environment variable")
        text = sweeps.text_of(value)
        if text is None or "\0" in text:
            raise table.error(f"env.{key}", "a number or a text is needed")
        if text and key in SERVERS and not SERVERS[key].fits(text):
            raise table.error(f"env.{key}", f"is {quoted(text)}; {SERVERS[key].needed}")
        env[key] = text
    return env


def _test(name: str, value: object, where: str) -> Test:
    if not isinstance(value, dict):
        raise UserError(f"{where}: tests.{name}: is {value!r}; a table is needed, [tests.{name}]")
    if not LABEL.fullmatch(name):
        raise UserError(f"{where}: tests.{name}: {LABELS_ARE} in a test's name")
    table = TomlTable(value, where, f"tests.{name}.")
    known = kinds.known()
    kind = known[table.choice("kind", tuple(known), name if name in known else None)]
    test = kind.parse(name, table, Path(where).parent)
    table.nothing_else()
    return test
