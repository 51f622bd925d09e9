"""Keep the end of a program's standard error."""

from __future__ import annotations

import os
import threading

MAX_BYTES = 2**16
GONE_WITHIN_S = 2.0


class ErrorTail:
    """Read a program's standard error while it runs, and keep only the end.

    A file would grow as much as the other machine likes. ``descriptor`` is for the program. Close it in this process
    after the program has its copy.
    """

    def __init__(self) -> None:
        reading, self.descriptor = os.pipe()
        self._text = b""
        self._thread = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.close(self.descriptor)

    def text(self) -> str:
        """Return the text after the program has ended.

        ssh may leave a process that could still write, so don't wait long.
        """
        self._thread.join(GONE_WITHIN_S)
        return self._text.decode(errors="replace")

    def _read(self, reading: int) -> None:
        with open(reading, "rb", buffering=0) as pipe:
            while data := pipe.read(MAX_BYTES):
                self._text = (self._text + data)[-MAX_BYTES:]
