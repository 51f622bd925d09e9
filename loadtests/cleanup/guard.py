"""Runs a command and sees to it that nothing of it outlives whoever asked for it.

``python loadtests/cleanup/guard.py COMMAND...`` runs the command as its child until its own standard input closes. That
happens when the harness closes it, and equally when the harness dies in any way, SIGKILL included: the kernel closes
the pipe. Then the command and all its descendants get SIGTERM, a few seconds to end by themselves, and SIGKILL. As the
subreaper of all that is started below it (prctl(2)), the guard also finds processes whose parents have died.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import select
import shutil
import signal
import subprocess
import sys
import time

import psutil

# For the guard and not for the command. The grace period is, if nothing else is said, what supervisor's programs get as
# well (stopwaitsecs).
GRACE_S = float(os.environ.pop("GUARD_GRACE_S", "5"))
REMOVES = os.environ.pop("GUARD_REMOVES", None)

SHARED_MEMORY = "/dev/shm"
CANNOT_BE_RUN = 127  # as a shell says it
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def main(command: list[str]) -> int:
    """Runs the command; returns its exit code as a shell would, or 0 where it was ended as standard input closed."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A Ctrl-C reaches the whole terminal; the harness decides when the servers stop.
        signal.signal(number, signal.SIG_IGN)
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            # Should the guard itself be killed, the command is at least asked to end.
            preexec_fn=lambda: _prepare(libc),
        )
    except OSError as error:
        print(f"it cannot be run: {error.strerror}", file=sys.stderr)
        return CANNOT_BE_RUN
    try:
        while child.poll() is None:
            readable, _, _ = select.select([0], [], [], 0.5)
            if readable and not os.read(0, 4096):
                return 0
        return child.returncode if child.returncode >= 0 else 128 - child.returncode
    finally:
        _end(child)
        # The folder of sockets and logs goes with the servers, however the harness went, and so does what they have put
        # into shared memory under its name: that outlives all who use it (shm_overview(7)).
        if REMOVES:
            shutil.rmtree(REMOVES, ignore_errors=True)
            name = glob.escape(os.path.basename(REMOVES))
            for left in (*glob.glob(f"{SHARED_MEMORY}/{name}-*"), *glob.glob(f"{SHARED_MEMORY}/sem.{name}-*")):
                with contextlib.suppress(OSError):
                    os.unlink(left)


def _prepare(libc: ctypes.CDLL) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _end(command: subprocess.Popen[bytes]) -> None:
    """Asks all to end; what has not within the grace period is killed.

    The command is asked first, so that, being a supervisor, it starts nothing anew; it is not waited for, because
    supervisord looks but once a second whether its programs have ended.
    """
    if command.poll() is None:
        command.terminate()
    asked = [process for process in psutil.Process().children(recursive=True) if process.pid != command.pid]
    for process in asked:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    psutil.wait_procs(asked, timeout=GRACE_S)
    end = time.monotonic() + GRACE_S
    while (left := psutil.Process().children(recursive=True)) and time.monotonic() < end:
        # Again, until none is left: one that is killed may have started another in the meantime.
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=1.0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
