"""From JSON to records. What a file holds is checked before anything uses it: by the records' types and their bounds
(``loadtests.records.bounds``), then by what makes it fit together (``validate``)."""

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
from loadtests.records.run import validate
from loadtests.records.run.run_record import RunRecord
from loadtests.records.run.upgrade import SCHEMA, upgraded_run, upgraded_trial

MOST_BYTES = 100_000_000  # of one file: a trial of a day has a timeline of 15 MB
LONGEST_SAID = 300  # letters of what is wrong: a value that is repeated in it may be vast


def run_record(file: Path) -> RunRecord:
    """The run that a run.json describes. Raises UserError: file, what is wrong, where in it."""
    values, schema = _object(file)
    with _as_one_line(f"{file} does not describe a run"):
        values = upgraded_run(values, schema)
        study = values["study"]
        with _as_one_line("its study"):
            values["study"] = studies.from_dict(study)
        record = msgspec.convert(values, RunRecord)
        validate.run(record)
    return record


def trial(file: Path, slots: Mapping[int, Slot]) -> Trial:
    """The trial in a file below ``trials/``, of a run with that order by number.

    Raises UserError: file, what is wrong, where in it.
    """
    values, schema = _object(file)
    with _as_one_line(f"{file} is not a trial"):
        found = msgspec.convert(upgraded_trial(values, schema), Trial)
        validate.trial(found, slots)
        if file.stem != found.name:
            raise ValueError(f"it is {found.name}, under another name")
    return found


def _object(file: Path) -> tuple[dict[str, Any], int]:
    """The object in a file and the number of its schema."""
    try:
        values = msgspec.json.decode(files.read(file, MOST_BYTES), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except RecursionError:
        raise UserError(f"{file} cannot be read: it is nested too deeply") from None
    schema = values.pop("schema", None)
    if not isinstance(schema, int) or isinstance(schema, bool) or not 1 <= schema <= SCHEMA:
        raise UserError(f"{file} has schema {_cut(schema)}; this version reads schema 1 to {SCHEMA}")
    return values, schema


@contextmanager
def _as_one_line(what: str) -> Iterator[None]:
    """Turns what is raised where a value is not as it should be into a UserError."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, UserError) as error:
        said = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise UserError(f"{what}: {_cut(said)}") from None


def _cut(said: object) -> str:
    text = " ".join(str(said).split())
    return text if len(text) <= LONGEST_SAID else f"{text[:LONGEST_SAID]} ..."
