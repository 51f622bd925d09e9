"""Read records from JSON files. A file can come from another person, so its values are checked before use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from loadtests import files
from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan import study as studies
from loadtests.plan.kinds import Test
from loadtests.plan.schedule import Slot
from loadtests.records import Trial
from loadtests.records.histogram import Histogram
from loadtests.records.run.run_record import RunRecord
from loadtests.workload import Workload

SCHEMA = 5
MAX_BYTES = 100_000_000  # The timeline of a trial of a whole day is 15 MB.
LONGEST_MESSAGE = 300  # A message could contain a very long value.
DEEPEST = 12  # The maximum nesting of values in run.json.


def run_record(file: Path) -> RunRecord:
    """Read the record of a run from run.json.

    Raises:
        UserError: If the file isn't valid. The message contains the file, the problem and its place.
    """
    values = _object(file)
    with _as_one_line(f"{file} does not describe a run"):
        _require_plain(values)
        study = values["study"]
        with _as_one_line("its study"):
            values["study"] = studies.from_dict(study)
            for test in values["study"].tests:
                _require_usable(test)
        record = msgspec.convert(values, RunRecord)
        if record.advice:
            kinds.metric(record.advice.metric)
    return record


def trial(file: Path, slots: Mapping[int, Slot]) -> Trial:
    """Read a trial from a file below ``trials/``.

    Args:
        file: The path of the trial's file.
        slots: The slots in the run's order, by number.

    Raises:
        UserError: If the file isn't valid. The message contains the file, the problem and its place.
    """
    values = _object(file)
    with _as_one_line(f"{file} is not a trial"):
        found = msgspec.convert(values, Trial)
        if slots.get(found.number) != Slot(found.number, found.block, found.label, found.test):
            place = f"number {found.number}, {found.label} in {found.test} in block {found.block}"
            raise ValueError(f"{place}, isn't in the run's order")
        for name, text in found.result.histograms.items() if found.result else ():
            with _as_one_line(f"result.histograms.{name}"):
                Histogram.decode(text)
        if file.stem != found.name:
            raise ValueError(f"it contains trial {found.name}, which doesn't match the file's name")
    return found


def _object(file: Path) -> dict[str, Any]:
    """Return the object in a file without its schema number."""
    try:
        values = msgspec.json.decode(files.read(file, MAX_BYTES), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except RecursionError:
        raise UserError(f"{file} cannot be read: values are nested too deeply") from None
    schema = values.pop("schema", None)
    if schema != SCHEMA or isinstance(schema, bool):
        raise UserError(f"{file} has schema {_cut(schema)}. This version reads schema {SCHEMA}")
    return values


def _require_plain(value: Any, depth: int = 0) -> None:
    """Refuse deeply nested values and numbers with more than 64 bits.

    Raises:
        ValueError: If ``value`` contains such a value.
    """
    if depth > DEEPEST:
        raise ValueError(f"values are nested more than {DEEPEST} levels deep")
    if isinstance(value, int) and abs(value) >= 2**64:
        raise ValueError(f"it contains a number with {value.bit_length()} bits")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_plain(inner, depth + 1)


def _require_usable(test: Test) -> None:
    """Check that the requests and descriptions of a test can be created.

    Raises:
        ValueError: If a text or a recorded request isn't valid.
        UserError: If a request isn't valid.
    """
    if test.requests:
        Workload(test.requests)
    if any(index >= len(test.requests) for _, index in getattr(test.pace, "recorded", ())):
        raise ValueError(f"{test.name}: recorded: refers to a request that doesn't exist")
    with _as_one_line(test.name):
        _ = test.search, test.description, test.condition, test.pace.length, test.exact_description


@contextmanager
def _as_one_line(what: str) -> Iterator[None]:
    """Convert errors about invalid values to a UserError with one line."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, UserError) as error:
        text = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise UserError(f"{what}: {_cut(text)}") from None


def _cut(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} ..."
