"""Define types of values with bounds. The bounds are checked when a file is read.

The bounds are far above any measured value, but low enough that calculations with the values can't overflow.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

VAST = 10**15
PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99.9": 99.9}
FIGURES = (*PERCENTILES, "max", "mean")


def about(text: str) -> Meta:
    """Return the metadata that describes a field, for the reference pages and JSON Schemas."""
    return Meta(description=text)


Count = Annotated[int, Meta(ge=0, le=VAST)]
Ordinal = Annotated[int, Meta(ge=1, le=10**7)]  # starts at 1
Amount = Annotated[float, Meta(ge=0, le=VAST)]
Positive = Annotated[float, Meta(gt=1e-12, le=VAST)]
Number = Annotated[float, Meta(ge=-VAST, le=VAST)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Seconds = Annotated[float, Meta(gt=0, le=7 * 24 * 3600)]

# A label or a test's name, which becomes part of file names.
Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,89}\Z",
        extra={"allowed": "1 to 90 letters, digits or . _ + - =, starting with a letter or digit"},
    ),
]
# A file name in a study, without folders.
FileName = Annotated[str, Meta(pattern=r"^[^/\x00]{1,300}\Z")]
Variable = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z", max_length=200, extra={"allowed": "the name of an environment variable"}
    ),
]
Moment = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?\Z")]
# The outcome of a request: a status, the kind of an error, stale or ok.
Ending = Annotated[str, Meta(pattern=r"^([1-9][0-9]{2}|[a-z][a-z-]{0,19})\Z")]
ErrorKind = Annotated[str, Meta(pattern=r"^(status|timeout|refused|reset|wrong-body|mixed-up|lost-session|other)\Z")]

# A time in milliseconds for each of FIGURES. None means that the time isn't known.
Figure = Annotated[str, Meta(pattern=r"^(p50|p90|p95|p99|p99\.9|max|mean)\Z")]
Figures = Annotated[dict[Figure, Number | None], Meta(min_length=len(FIGURES), max_length=len(FIGURES))]
