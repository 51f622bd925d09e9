"""From JSON to records. What a file holds is checked against the records' types before anything uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from loadtests.errors import UserError
from loadtests.plan import study as studies
from loadtests.records import Trial
from loadtests.store.run_record import RunRecord
from loadtests.store.upgrade import SCHEMA, upgraded_run, upgraded_trial

T = TypeVar("T")


def run_record(file: Path) -> RunRecord:
    """The run that a run.json describes. Raises UserError: file, what is wrong, where in it."""
    values = _object(file)
    schema = values.pop("schema", None)
    if not isinstance(schema, int) or not 1 <= schema <= SCHEMA:
        raise UserError(f"{file} has schema {schema}; this version reads schema 1 to {SCHEMA}")
    try:
        values = upgraded_run(values, schema)
        values["study"] = studies.from_dict(values["study"])
        return _converted(values, RunRecord)
    except (ValueError, TypeError, KeyError, AttributeError, UserError) as error:
        raise UserError(f"{file} does not describe a run: {_said(error)}") from None


def trial(file: Path) -> Trial:
    """The trial in a file below ``trials/``. Raises UserError: file, what is wrong, where in it."""
    values = _object(file)
    schema = values.pop("schema", None)
    if not isinstance(schema, int) or not 1 <= schema <= SCHEMA:
        raise UserError(f"{file} has schema {schema}; this version reads schema 1 to {SCHEMA}")
    try:
        return _converted(upgraded_trial(values, schema), Trial)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{file} is not a trial: {_said(error)}") from None


def _object(file: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{file} cannot be read: {_said(error)}") from None


def _converted(values: dict[str, Any], kind: type[T]) -> T:
    return msgspec.convert(values, kind)


def _said(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return f"it lacks {text}" if isinstance(error, KeyError) else text
