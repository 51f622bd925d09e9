"""Run a command, and end all its processes when its owner ends: ``python loadtests/cleanup/guard.py COMMAND...``.

When the guard's standard input closes, because the harness closed it or died (even from SIGKILL), the guard sends
SIGTERM to the command and all its descendants, and SIGKILL after a grace period. The guard is the subreaper of all
these processes (prctl(2)), so it also finds processes whose parents have died.
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

# These options are for the guard only, so the command doesn't inherit them. The default grace period is the same as for
# supervisor's programs (stopwaitsecs).
GRACE_S = float(os.environ.pop("GUARD_GRACE_S", "5"))
REMOVES = os.environ.pop("GUARD_REMOVES", None)

SHARED_MEMORY = "/dev/shm"
CANNOT_BE_RUN = 127  # the exit status of shells for a command that can't be run
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def main(command: list[str]) -> int:
    """Run the command. Return its exit status as in a shell, or 0 if the guard's standard input closed first."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A Ctrl-C reaches all processes of the terminal, but the harness decides when the servers stop.
        signal.signal(number, signal.SIG_IGN)
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            # If the guard itself is killed, the kernel sends SIGTERM to the command.
            preexec_fn=lambda: _prepare(libc),
        )
    except OSError as error:
        print(f"the command can't be run: {error.strerror}", file=sys.stderr)
        return CANNOT_BE_RUN
    try:
        while child.poll() is None:
            readable, _, _ = select.select([0], [], [], 0.5)
            if readable and not os.read(0, 4096):
                return 0
        return child.returncode if child.returncode >= 0 else 128 - child.returncode
    finally:
        _end(child)
        # Remove the servers' folder, and the shared memory whose name contains the folder's name (shm_overview(7)).
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
    """Send SIGTERM to all processes, and SIGKILL after the grace period.

    The command receives the signal first, so that a supervisor doesn't restart its programs. The guard doesn't wait for
    the command, because supervisord notices ended programs only once per second.
    """
    if command.poll() is None:
        command.terminate()
    terminated = [process for process in psutil.Process().children(recursive=True) if process.pid != command.pid]
    for process in terminated:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    psutil.wait_procs(terminated, timeout=GRACE_S)
    end = time.monotonic() + GRACE_S
    while (left := psutil.Process().children(recursive=True)) and time.monotonic() < end:
        # Repeat, because a process may have started another process before it was killed.
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=1.0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
