"""Studies: which setups, which tests, how many blocks. Read from TOML, checked once, never changed after."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from pathlib import Path
from typing import Any

from loadtests.capacity import objective
from loadtests.errors import UserError, unknown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STUDIES = Path(__file__).resolve().parent.parent / "studies"

KINDS = ("latency", "throughput", "capacity")
ENGINES = ("openloop", "loadtest")
THE_RUNS_OWN = {"BIND", "PORT", "CORES", "RUN_DIR"}
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


# Start, health, contract and stop of a trial: what it takes beside warm-up and measurement. For the time left only.
OVERHEAD_S = 1.5
# What a search for a capacity takes, as simulated (docs/statistics). For the time left only.
SHORT_PROBES = 16
LONG_PROBES = 3


@dataclasses.dataclass(frozen=True)
class Entry:
    """A setup in a study, under a label, with the knobs (environment variables) it is started with."""

    label: str
    setup: str
    env: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Test:
    """What is asked of a setup. Rates are in requests per second, durations in seconds.

    ``latency`` has a ``rate`` and ``throughput`` has ``connections``, both for ``duration_s``; ``capacity`` looks for
    the highest rate within ``objective``, from ``start_rate`` on and at most ``max_rate``, with short probes of
    ``probe_s`` and long ones of ``confirm_s``. What a kind does not have is None.
    """

    name: str
    kind: str
    path: str
    engine: str
    warmup_s: float
    rate: float | None = None
    connections: int | None = None
    duration_s: float | None = None
    objective: str | None = None
    start_rate: float | None = None
    max_rate: float | None = None
    probe_s: float | None = None
    confirm_s: float | None = None

    @property
    def planned_s(self) -> float:
        """About how long a trial takes."""
        search_s = SHORT_PROBES * (self.probe_s or 0) + LONG_PROBES * (self.confirm_s or 0)
        return OVERHEAD_S + self.warmup_s + (self.duration_s or search_s)


@dataclasses.dataclass(frozen=True)
class Study:
    """Setups times tests times blocks."""

    name: str
    title: str
    question: str
    baseline: str
    entries: tuple[Entry, ...]
    tests: tuple[Test, ...]
    blocks: int
    delta: float
    price_per_core_hour: float | None

    def to_dict(self) -> dict[str, Any]:
        """The study as run.json keeps it."""
        return dataclasses.asdict(self)

    def with_twin(self) -> Study:
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
    path = STUDIES / f"{name_or_path}.toml"
    if name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        if not path.is_file():
            raise UserError(f"there is no study file {path}")
    elif not path.is_file():
        raise unknown("study", name_or_path, names())
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    return parse(table, path.stem, str(path))


def parse(table: dict[str, Any], name: str, where: str) -> Study:
    """The study in a TOML table; ``where`` is what error messages call the file. Raises UserError."""
    top = _Table(table, where)
    entries = tuple(_entry(item, where) for item in top.take("setups", list))
    if not entries:
        raise UserError(f"{where}: setups: at least one is needed")
    labels = [entry.label for entry in entries]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"{where}: setups: the label {label!r} stands twice; give one of them another label")
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
        blocks=top.whole("blocks", 2),
        delta=top.share("delta", 0.03),
        price_per_core_hour=top.positive("price_per_core_hour", None),
    )
    twin = top.take("aa", bool, False)
    top.nothing_else()
    return study.with_twin() if twin else study


def planned_seconds(study: Study) -> float:
    """About how long the study takes."""
    return sum(test.planned_s for test in study.tests) * len(study.entries) * study.blocks


def from_dict(values: dict[str, Any]) -> Study:
    """The study that ``Study.to_dict`` gave, as run.json keeps it."""
    return Study(
        **{
            **values,
            "entries": tuple(Entry(**entry) for entry in values["entries"]),
            "tests": tuple(Test(**test) for test in values["tests"]),
        }
    )


def _entry(item: object, where: str) -> Entry:
    if isinstance(item, str):
        item = {"setup": item}
    if not isinstance(item, dict):
        raise UserError(f"{where}: setups: {item!r} is neither a name nor a table with a key 'setup'")
    table = _Table(item, where, "setups.")
    setup = table.take("setup", str)
    label = table.take("label", str, setup)
    if not LABEL.fullmatch(label):
        raise UserError(f"{where}: setups.label: {label!r}; letters, digits and . _ + - are allowed")
    env = {key: str(value) for key, value in table.take("env", dict, {}).items()}
    for key in sorted(env.keys() & THE_RUNS_OWN):
        raise UserError(f"{where}: setups.env.{key}: is the same for the whole run; set it in the environment of `run`")
    table.nothing_else()
    return Entry(label, setup, env)


def _test(name: str, value: object, where: str) -> Test:
    if not isinstance(value, dict):
        raise UserError(f"{where}: tests.{name}: is {value!r}; a table is needed, [tests.{name}]")
    if not LABEL.fullmatch(name):
        raise UserError(f"{where}: tests.{name}: letters, digits and . _ + - are allowed in a test's name")
    table = _Table(value, where, f"tests.{name}.")
    kind = table.choice("kind", KINDS, name if name in KINDS else None)
    test = Test(
        name=name,
        kind=kind,
        path=table.take("path", str, "/"),
        engine=table.choice("engine", ENGINES, "openloop"),
        warmup_s=table.seconds("warmup", 2.0),
        **_OF_KIND[kind](table),
    )
    if kind == "capacity" and test.engine != "openloop":
        raise table.error("engine", f"is {test.engine!r}; a capacity is found with openloop only")
    if not test.path.startswith("/"):
        raise table.error("path", f"is {test.path!r}; it must begin with '/'")
    if not test.path.isascii() or any(letter.isspace() for letter in test.path):
        raise table.error("path", f"is {test.path!r}; write it percent-encoded")
    table.nothing_else()
    return test


def _latency(table: _Table) -> dict[str, Any]:
    return {"rate": table.positive("rate"), "duration_s": table.seconds("duration")}


def _throughput(table: _Table) -> dict[str, Any]:
    return {"connections": table.whole("connections", 10), "duration_s": table.seconds("duration")}


def _capacity(table: _Table) -> dict[str, Any]:
    text = table.take("objective", str, "p99<50ms")
    try:
        objective.parse(text)
    except ValueError as error:
        raise table.error("objective", str(error)) from None
    found = {
        "objective": text,
        "start_rate": table.positive("start_rate", 100.0),
        "max_rate": table.positive("max_rate", 100_000.0),
        "probe_s": table.seconds("probe", 5.0),
        "confirm_s": table.seconds("confirm", 30.0),
    }
    if not 1 <= found["start_rate"] <= found["max_rate"]:
        raise table.error(
            "start_rate", f"is {found['start_rate']:g}; from 1 to max_rate ({found['max_rate']:g}) is allowed"
        )
    return found


_OF_KIND = {"latency": _latency, "throughput": _throughput, "capacity": _capacity}

_TYPES = {
    bool: "true or false",
    str: "a text",
    list: "a list",
    dict: "a table",
    int: "a whole number",
    float: "a number",
}
_NEEDED: Any = object()


class _Table:
    """A TOML table whose keys are taken one by one; what is left over was a mistake."""

    def __init__(self, values: dict[str, Any], where: str, prefix: str = "") -> None:
        self.left = dict(values)
        self.known: list[str] = []
        self.where = where
        self.prefix = prefix

    def take(self, key: str, kind: type, default: Any = _NEEDED) -> Any:
        self.known.append(key)
        if key not in self.left:
            if default is _NEEDED:
                raise self.error(key, f"is missing; {_TYPES[kind]} is needed")
            return default
        value = self.left.pop(key)
        fits = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
        if not fits or isinstance(value, bool) != (kind is bool):
            raise self.error(key, f"is {value!r}; {_TYPES[kind]} is needed")
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None) -> str:
        value: str = self.take(key, str, _NEEDED if default is None else default)
        if value not in allowed:
            raise self.error(key, f"is {value!r}; allowed: {', '.join(allowed)}")
        return value

    def positive(self, key: str, default: Any = _NEEDED) -> Any:
        value = self.take(key, float, default)
        if value is None:
            return None
        value = float(value)
        if not (math.isfinite(value) and value > 0):
            raise self.error(key, f"is {value:g}; a number above 0 is needed")
        return value

    def whole(self, key: str, default: int) -> int:
        value: int = self.take(key, int, default)
        if value < 1:
            raise self.error(key, f"is {value}; a whole number of 1 or more is needed")
        return value

    def share(self, key: str, default: float) -> float:
        value = float(self.take(key, float, default))
        if not 0 < value < 1:
            raise self.error(key, f"is {value:g}; a share between 0 and 1 is needed, such as 0.03")
        return value

    def seconds(self, key: str, default: float = _NEEDED) -> float:
        self.known.append(key)
        if key not in self.left:
            if default is _NEEDED:
                raise self.error(key, "is missing; a duration such as '10s' is needed")
            return default
        try:
            return duration(self.left.pop(key))
        except UserError as error:
            raise self.error(key, str(error)) from None

    def nothing_else(self) -> None:
        for key in self.left:
            raise self.error(key, f"is not a key here; allowed: {', '.join(sorted(set(self.known)))}")

    def error(self, key: str, what: str) -> UserError:
        return UserError(f"{self.where}: {self.prefix}{key}: {what}")


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def duration(value: object) -> float:
    """Seconds from ``'10s'``, ``'1.5m'``, ``'200ms'``, ``'1h'`` or a bare number of seconds. Raises UserError."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(ms|s|m|min|h)?\s*", str(value))
    if isinstance(value, bool) or match is None:
        raise UserError(f"{value!r} is not a duration; write 10s, 500ms, 2m or 1h")
    seconds = float(match[1]) * _UNITS[match[2] or "s"]
    if not 0 < seconds <= 7 * 24 * 3600:
        raise UserError(f"{value!r} is not a usable duration; between 1ms and a week is")
    return seconds
