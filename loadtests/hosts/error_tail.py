"""Keep the end of a program's standard error."""

from __future__ import annotations

import os
import threading

MAX_BYTES = 2**16
GONE_WITHIN_S = 2.0


class ErrorTail:
    """Read a program's standard error while the program runs, and keep only the end.

    The output isn't written to a file, because an untrusted machine could make the file grow without limit. Pass
    ``descriptor`` to the program, and call ``close`` after the program has started.
    """

    def __init__(self) -> None:
        reading, self.descriptor = os.pipe()
        self._text = b""
        self._thread = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.close(self.descriptor)

    def text(self) -> str:
        """Return the end of the standard error of a program that has ended.

        ssh may leave a process that could still write, so don't wait long.
        """
        self._thread.join(GONE_WITHIN_S)
        return self._text.decode(errors="replace")

    def _read(self, reading: int) -> None:
        with open(reading, "rb", buffering=0) as pipe:
            while data := pipe.read(MAX_BYTES):
                self._text = (self._text + data)[-MAX_BYTES:]
