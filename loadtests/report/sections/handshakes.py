"""Show how many TLS handshakes of a test were full, and how many resumed a session."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.report import tables
from loadtests.report.view import Table

COUNTED = tables.sums(
    lambda trial: trial.result.handshakes if trial.result else None, {"full": "full", "resumed": "resumed"}
)
NOTE = (
    "Sums over valid trials. Only connections that were opened for measured requests count. Resumed: the server "
    "recognized the client from an earlier connection, and didn't sign again."
)


def handshakes(results: Results, test: Test) -> Iterator[Table]:
    """Yield a table of the TLS handshakes in a test, if the test uses TLS."""
    return tables.counted_in(results, test, "handshakes", "TLS handshakes", COUNTED, NOTE)
