"""Recordings made into workload files: ``python -m loadtests workload har FILE``."""

from __future__ import annotations

from pathlib import Path

from loadtests import files
from loadtests.errors import UserError, unknown
from loadtests.workload import accesslog, har, recorded
from loadtests.workload.recorded import RecordedWorkload
from loadtests.workload.redaction import Keep, Redaction
from loadtests.workload.write import to_toml

KINDS = ("har", "log")
MOST_BYTES = 1_000_000_000  # of a recording, which is read whole


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
    try:
        content = files.read(file, MOST_BYTES, pipes=True)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    redaction = Redaction(keep)
    # Bytes that are no UTF-8 are kept as what is no path, so that their line alone is left out.
    text = content.decode("utf-8-sig", errors="surrogateescape").replace("\r\n", "\n")
    if kind == "har":
        sent, remarks = har.read(text, str(file), host, redaction)
    else:
        sent, remarks = accesslog.read(text.split("\n"), str(file), skip_unknown, redaction)
    found = recorded.workload(sent, most, times, str(file))
    return RecordedWorkload(found.workload, (*found.remarks[:1], *remarks, *found.remarks[1:], *redaction.remarks()))


def write(found: RecordedWorkload, file: Path, output: Path) -> None:
    """Writes the workload. Raises UserError where the file is there already or cannot be written."""
    try:
        with output.open("x", encoding="utf-8") as stream:
            stream.write(text(found, file))
    except FileExistsError:
        raise UserError(f"{output} exists already; name another file with --output") from None
    except OSError as error:
        raise UserError(f"{output}: cannot be written: {error.strerror}") from None


def text(found: RecordedWorkload, file: Path) -> str:
    """The text of the workload file."""
    return to_toml(found.workload, (f"From {file.name}.", *found.remarks))
