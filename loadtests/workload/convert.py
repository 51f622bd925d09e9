"""Recordings made into workload files and journeys: ``python -m loadtests workload har FILE``."""

from __future__ import annotations

import dataclasses
import io
import os
from pathlib import Path

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
class ConvertOptions:
    """Of a HAR file the ``host`` whose requests are taken (None: the first one's); the secrets to ``keep``; whether
    lines of a log in an unknown format are skipped; whether the ``times`` are kept; the ``most`` different requests."""

    host: str | None = None
    keep: Keep = dataclasses.field(default_factory=Keep)
    skip_unknown: bool = False
    times: bool = False
    most: int = 100


USUAL = ConvertOptions()


@dataclasses.dataclass(frozen=True)
class Converted:
    """What a recording was made into: the text of a file, and sentences on what was taken and what was left out."""

    text: str
    remarks: tuple[str, ...]


def converted(kind: str, file: Path, options: ConvertOptions = USUAL) -> Converted:
    """The workload file, or the journey, that a recording is made into. Raises UserError."""
    if kind != JOURNEY:
        workload = convert(kind, file, options)
        return Converted(text(workload, file), workload.remarks)
    if options.skip_unknown or options.times or options.keep != Keep():
        raise UserError("--times, --skip-unknown and --keep-... are for a workload; a journey is yours to change")
    found = journey_text.read(_text(file), str(file), options.host)
    return Converted(journey_text.text(found, file), found.remarks)


def convert(kind: str, file: Path, options: ConvertOptions = USUAL) -> RecordedWorkload:
    """The workload in a HAR file or an access log, without secrets but for those to keep. Raises UserError."""
    if kind not in KINDS:
        raise unknown("kind of recording", kind, KINDS)
    if kind == "log" and (options.host or options.keep.cookies or options.keep.headers):
        raise UserError(
            "--host, --keep-cookies and --keep-header are for a HAR file; an access log holds neither hosts nor headers"
        )
    if kind == "har" and options.skip_unknown:
        raise UserError("--skip-unknown is for the lines of an access log")
    redaction = Redaction(options.keep)
    if kind == "har":
        sent, remarks = har.read(_text(file), str(file), options.host, redaction)
    else:
        lines = map(_decoded, io.BytesIO(_content(file)))
        sent, remarks = accesslog.read(lines, str(file), options.skip_unknown, redaction)
    found = recorded.workload(sent, options.most, options.times, str(file))
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
    return _decoded(_content(file)).replace("\r\n", "\n")


def _content(file: Path) -> bytes:
    try:
        return files.read(file, MOST_BYTES, pipes=True)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None


def _decoded(content: bytes) -> str:
    # Bytes that are no UTF-8 are kept as what is no path, so that their line alone is left out.
    return content.decode("utf-8-sig", errors="surrogateescape")
