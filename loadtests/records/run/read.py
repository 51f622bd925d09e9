"""Read records from JSON files. A file can come from another person, so its values are checked before use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from loadtests import files
from loadtests.errors import UserError
from loadtests.plan import study as studies
from loadtests.plan.schedule import Slot
from loadtests.records import Trial
from loadtests.records.histogram import Histogram
from loadtests.records.run.run_record import RunRecord

SCHEMA = 5
MAX_BYTES = 100_000_000  # The timeline of a trial of a whole day is 15 MB.
LONGEST_MESSAGE = 300  # A message could contain a very long value.


def run_record(file: Path) -> RunRecord:
    """Read the record of a run from run.json.

    Raises:
        UserError: If the file isn't valid. The message contains the file, the problem and its place.
    """
    values = _object(file)
    with _as_one_line(f"{file} does not describe a run"):
        study = values["study"]
        with _as_one_line("its study"):
            values["study"] = studies.from_dict(study)
        return msgspec.convert(values, RunRecord)


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
