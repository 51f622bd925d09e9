"""Convert recordings to workload files and journeys: ``python -m loadtests workload har FILE``."""

from __future__ import annotations

import dataclasses
import io
import json
import os
from pathlib import Path

from loadtests import files
from loadtests.errors import UserError, unknown
from loadtests.workload import accesslog, har, journey_text, ons, recorded_journey, recording, redaction
from loadtests.workload.recording import Recording
from loadtests.workload.request import Workload
from loadtests.workload.secrets import REPLACED
from loadtests.workload.write import to_toml

JOURNEY = "journey"
KINDS = ("har", "log", JOURNEY)
MAX_BYTES = 200_000_000  # maximum size of a recording, which is read as a whole


@dataclasses.dataclass(frozen=True)
class ConvertOptions:
    """The options of a conversion.

    Args:
        hosts: The hosts whose requests in a HAR file are used. The default is the first request's host.
        keep_secrets: Whether to keep possible secrets in a workload.
        times: Whether to keep the times of the requests, for a replay.
    """

    hosts: tuple[str, ...] = ()
    keep_secrets: bool = False
    times: bool = False


DEFAULT_OPTIONS = ConvertOptions()


@dataclasses.dataclass(frozen=True)
class Converted:
    """A converted recording: the text of a file, and remarks on the requests that were used or left out."""

    text: str
    remarks: list[str]


def converted(kind: str, file: Path, options: ConvertOptions = DEFAULT_OPTIONS) -> Converted:
    """Convert a recording to a workload file or a journey.

    Raises:
        UserError: If the recording can't be converted.
    """
    if kind == JOURNEY:
        steps, remarks = recorded_journey.to_steps(_read(kind, file, options), str(file))
        text = journey_text.text(steps, remarks, file)
    else:
        workload, remarks = to_workload(kind, file, options)
        text = to_toml(workload, [f"From {file.name}.", *remarks])
    secret = [f"{REPLACED} marks values that may be secret. Fill in other values"] if REPLACED in text else []
    return Converted(text, [*remarks, *secret])


def to_workload(kind: str, file: Path, options: ConvertOptions = DEFAULT_OPTIONS) -> tuple[Workload, list[str]]:
    """Convert a HAR file or an access log to a workload, by default without secrets.

    Returns:
        The workload, and remarks on the requests that were used or left out.

    Raises:
        UserError: If the recording can't be converted.
    """
    found = _read(kind, file, options)
    if not options.keep_secrets:
        found = Recording([redaction.redacted(one) for one in found.requests], found.remarks)
    return recording.to_workload(found, options.times, str(file))


def write(found: Converted, output: Path) -> None:
    """Write a converted recording to a new file.

    Raises:
        UserError: If the file exists or can't be written.
    """
    if os.path.lexists(output):
        raise UserError(f"{output} already exists. Name another file with --output")
    files.write_text(output, found.text)


def _read(kind: str, file: Path, options: ConvertOptions) -> Recording:
    """Read a recording. A journey comes from a HAR file or from a requests file of the ONS."""
    if kind not in KINDS:
        raise unknown("kind of recording", kind, KINDS)
    try:
        content = files.read(file, MAX_BYTES, pipes=True)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    if kind == "log":
        return accesslog.read(map(_decoded, io.BytesIO(content)), str(file))
    try:
        values = json.loads(_decoded(content))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: is not a recording, because the text is not JSON: {error}") from None
    if kind == JOURNEY and isinstance(values, dict) and "requests" in values:
        return ons.read(values, str(file))
    return har.read(values, str(file), options.hosts)


def _decoded(content: bytes) -> str:
    # Bytes that aren't UTF-8 become special characters, so the other lines remain readable.
    return content.decode("utf-8-sig", errors="surrogateescape")
