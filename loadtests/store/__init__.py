"""The run folder: what a run leaves behind, and the typed records that it is made of."""

from loadtests.store.folder import (
    SCHEMA,
    Run,
    Trial,
    require_new,
    runs,
    write_bytes,
    write_json,
    write_text,
)

__all__ = [
    "SCHEMA", "Run", "Trial", "require_new", "runs", "write_bytes", "write_json", "write_text",
]  # fmt: skip
