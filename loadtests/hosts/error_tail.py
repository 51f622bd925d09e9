"""The end of what a program writes to its standard error."""

from __future__ import annotations

import os
import threading

MOST_BYTES = 2**16
GONE_WITHIN_S = 2.0


class ErrorTail:
    """Takes it as it comes, for as long as the program writes, and keeps the end: a file would grow as another machine
    likes. ``descriptor`` is for the program, and closed here once that has its copy."""

    def __init__(self) -> None:
        reading, self.descriptor = os.pipe()
        self._text = b""
        self._thread = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.close(self.descriptor)

    def text(self) -> str:
        """What it is, once the program has ended; ssh may leave a process behind that still could write."""
        self._thread.join(GONE_WITHIN_S)
        return self._text.decode(errors="replace")

    def _read(self, reading: int) -> None:
        with open(reading, "rb", buffering=0) as pipe:
            while data := pipe.read(MOST_BYTES):
                self._text = (self._text + data)[-MOST_BYTES:]
