"""Recordings made into workload files and journeys: ``python -m loadtests workload har FILE``."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from loadtests import files
from loadtests.errors import UserError, unknown
from loadtests.workload import accesslog, har, journey_text, recorded
from loadtests.workload.recorded import RecordedWorkload
from loadtests.workload.redaction import Keep, Redaction
from loadtests.workload.write import to_toml

JOURNEY = "journey"
KINDS = ("har", "log", JOURNEY)
MOST_BYTES = 1_000_000_000  # of a recording, which is read whole


@dataclasses.dataclass(frozen=True)
class Converted:
    """What a recording was made into: the text of a file, and sentences on what was taken and what was left out."""

    text: str
    remarks: tuple[str, ...]


def converted(kind: str, file: Path, host: str | None = None, **options: Any) -> Converted:
    """The workload file, or the journey, that a recording is made into; ``options`` are those of ``convert``. Raises
    UserError."""
    if kind != JOURNEY:
        workload = convert(kind, file, host, **options)
        return Converted(text(workload, file), workload.remarks)
    if options.get("skip_unknown") or options.get("times") or options.get("keep", Keep()) != Keep():
        raise UserError("--times, --skip-unknown and --keep-... are for a workload; a journey is yours to change")
    found = journey_text.read(_text(file), str(file), host)
    return Converted(journey_text.text(found, file), found.remarks)


def convert(
    kind: str,
    file: Path,
    host: str | None = None,
    keep: Keep | None = None,
    skip_unknown: bool = False,
    times: bool = False,
    most: int = 100,
) -> RecordedWorkload:
    """The workload in a HAR file or an access log, without secrets but for those to ``keep``. Raises UserError."""
    keep = keep or Keep()
    if kind not in KINDS:
        raise unknown("kind of recording", kind, KINDS)
    if kind == "log" and (host or keep.cookies or keep.headers):
        raise UserError(
            "--host, --keep-cookies and --keep-header are for a HAR file; an access log holds neither hosts nor headers"
        )
    if kind == "har" and skip_unknown:
        raise UserError("--skip-unknown is for the lines of an access log")
    text = _text(file)
    redaction = Redaction(keep)
    if kind == "har":
        sent, remarks = har.read(text, str(file), host, redaction)
    else:
        sent, remarks = accesslog.read(text.split("\n"), str(file), skip_unknown, redaction)
    found = recorded.workload(sent, most, times, str(file))
    return RecordedWorkload(found.workload, (*found.remarks[:1], *remarks, *found.remarks[1:], *redaction.remarks()))


def write(found: Converted, output: Path) -> None:
    """Writes the file. Raises UserError where the file is there already or cannot be written."""
    if os.path.lexists(output):
        raise UserError(f"{output} exists already; name another file with --output")
    files.write_text(output, found.text)


def text(found: RecordedWorkload, file: Path) -> str:
    """The text of the workload file."""
    return to_toml(found.workload, (f"From {file.name}.", *found.remarks))


def _text(file: Path) -> str:
    try:
        content = files.read(file, MOST_BYTES, pipes=True)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    # Bytes that are no UTF-8 are kept as what is no path, so that their line alone is left out.
    return content.decode("utf-8-sig", errors="surrogateescape").replace("\r\n", "\n")
