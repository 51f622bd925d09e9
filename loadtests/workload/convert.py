"""Convert recordings to workload files and journeys: ``python -m loadtests workload har FILE``."""

from __future__ import annotations

import dataclasses
import io
import os
import zipfile
import zlib
from pathlib import Path

from loadtests import files
from loadtests.errors import UserError, unknown
from loadtests.workload import accesslog, har, journey_text, recorded
from loadtests.workload.recorded import RecordedWorkload
from loadtests.workload.redaction import Keep, Redaction
from loadtests.workload.request import MAX_BODY_BYTES
from loadtests.workload.write import to_toml

JOURNEY = "journey"
KINDS = ("har", "log", JOURNEY)
MAX_BYTES = 1_000_000_000  # maximum size of a recording, which is read as a whole


@dataclasses.dataclass(frozen=True)
class ConvertOptions:
    """The options of a conversion.

    Args:
        hosts: The hosts whose requests in a HAR file are used. The default is the first request's host.
        keep: The possible secrets to keep.
        skip_unknown: Whether to skip the lines of a log that are in an unknown format.
        times: Whether to keep the times of the requests, for a replay.
        max_requests: The maximum number of different requests.
    """

    hosts: tuple[str, ...] = ()
    keep: Keep = dataclasses.field(default_factory=Keep)
    skip_unknown: bool = False
    times: bool = False
    max_requests: int = 100


USUAL = ConvertOptions()


@dataclasses.dataclass(frozen=True)
class Converted:
    """A converted recording: the text of a file, and remarks on the requests that were used or left out."""

    text: str
    remarks: tuple[str, ...]


def converted(kind: str, file: Path, options: ConvertOptions = USUAL) -> Converted:
    """Convert a recording to a workload file or a journey.

    Raises:
        UserError: If the recording can't be converted.
    """
    if kind != JOURNEY:
        workload = convert(kind, file, options)
        return Converted(text(workload, file), workload.remarks)
    if options.skip_unknown or options.times or options.keep != Keep():
        raise UserError("--skip-unknown and --keep-... don't work for a journey. Leave them out, and edit the journey")
    found = journey_text.read(_har(file), str(file), options.hosts)
    return Converted(journey_text.text(found, file), found.remarks)


def convert(kind: str, file: Path, options: ConvertOptions = USUAL) -> RecordedWorkload:
    """Convert a HAR file or an access log to a workload. Remove secrets, except secrets that the user keeps.

    Raises:
        UserError: If the recording can't be converted.
    """
    if kind not in KINDS:
        raise unknown("kind of recording", kind, KINDS)
    if kind == "log" and (options.hosts or options.keep.cookies or options.keep.headers):
        raise UserError(
            "--host, --keep-cookies and --keep-header are for a HAR file. An access log contains no hosts or headers"
        )
    if kind == "har" and options.skip_unknown:
        raise UserError("--skip-unknown is for the lines of an access log")
    redaction = Redaction(options.keep)
    if kind == "har":
        sent, remarks = har.read(_har(file), str(file), options.hosts, redaction)
    else:
        lines = map(_decoded, io.BytesIO(_content(file)))
        sent, remarks = accesslog.read(lines, str(file), options.skip_unknown, redaction)
    found = recorded.workload(sent, options.max_requests, options.times, str(file), remarks)
    return RecordedWorkload(found.workload, (*found.remarks, *redaction.remarks()))


def write(found: Converted, output: Path) -> None:
    """Write a converted recording to a new file.

    Raises:
        UserError: If the file exists or can't be written.
    """
    if os.path.lexists(output):
        raise UserError(f"{output} already exists. Name another file with --output")
    files.write_text(output, found.text)


def text(found: RecordedWorkload, file: Path) -> str:
    """Return the text of the workload file for a recorded workload."""
    return to_toml(found.workload, (f"From {file.name}.", *found.remarks))


def _har(file: Path) -> str:
    """Return the text of a HAR file, with the bodies from separate files in the same folder or the same zip archive."""
    content = _content(file)
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return har.with_attached(_text(content), lambda name: _attached(file.parent / Path(name).name))
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = {one.filename for one in archive.infolist() if one.file_size < MAX_BYTES}
            recording = next((name for name in sorted(names) if name.endswith(".har")), None)
            if recording is None:
                raise UserError(f"{file}: is a zip archive without a HAR file")
            text = _text(archive.read(recording))
            return har.with_attached(text, lambda name: archive.read(name) if name in names else None)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError):  # a RuntimeError for encrypted files
        raise UserError(f"{file}: is a damaged or encrypted zip archive. Unpack it, and convert its HAR file") from None


def _attached(file: Path) -> bytes | None:
    try:
        return files.read(file, MAX_BODY_BYTES)
    except (OSError, UserError):
        return None


def _text(content: bytes) -> str:
    return _decoded(content).replace("\r\n", "\n")


def _content(file: Path) -> bytes:
    try:
        return files.read(file, MAX_BYTES, pipes=True)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None


def _decoded(content: bytes) -> str:
    # Bytes that aren't UTF-8 become special characters, so the other lines remain readable.
    return content.decode("utf-8-sig", errors="surrogateescape")
