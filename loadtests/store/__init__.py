"""The run folder: what a run leaves behind, read and written as records (``loadtests.records``)."""

from loadtests.store.folder import (
    Run,
    holds,
    make_folder,
    remove,
    require_new,
    runs,
    write_bytes,
    write_json,
    write_text,
)
from loadtests.store.run_record import (
    Ceilings,
    Contract,
    Expectation,
    Git,
    Goal,
    LeftOut,
    OtherClient,
    OtherHost,
    OwnProject,
    RunRecord,
    ServiceHost,
    SetupRecord,
)
from loadtests.store.upgrade import SCHEMA

__all__ = [
    "SCHEMA", "Ceilings", "Contract", "Expectation", "Git", "Goal", "LeftOut", "OtherClient", "OtherHost", "OwnProject",
    "Run", "RunRecord", "ServiceHost", "SetupRecord", "holds", "make_folder", "remove", "require_new", "runs",
    "write_bytes", "write_json", "write_text",
]  # fmt: skip
