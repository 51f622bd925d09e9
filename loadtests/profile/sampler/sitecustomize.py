"""In every Python process of a setup, write the stack of the running thread every 10 ms of CPU time.

If the folder is on PYTHONPATH, Python imports a module with this name when it starts. The kernel's profiling timer
(setitimer(2), ITIMER_PROF) counts the CPU time of the whole process and interrupts the running thread. faulthandler,
which is safe in signal handlers, writes this thread's stack to a file named after the process, without waiting for the
GIL. This module uses only the standard library, and supports every Python that Django runs on.
"""

import atexit
import faulthandler
import importlib.machinery
import importlib.util
import os
import signal
import sys

INTERVAL_S = 0.00997  # not a whole number of milliseconds, so that the timer isn't synchronous with other timers


def start() -> None:
    """Start sampling this process."""
    path = os.path.join(os.environ["PROFILE_STACKS"], str(os.getpid()))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    faulthandler.register(signal.SIGPROF, file=file, all_threads=False, chain=False)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)


def stop() -> None:
    """Stop the timer.

    faulthandler removes its handler before the process ends. Without a handler, the timer's signal would kill the
    process.
    """
    signal.setitimer(signal.ITIMER_PROF, 0)


def next_of_the_name() -> None:
    """Run the ``sitecustomize`` module of the project or the system, if any, because this module hides it."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [folder for folder in sys.path if os.path.abspath(folder) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


# supervisord forks and then executes another program, which would inherit the timer but not the signal handler.
NOT_SAMPLED = "supervisord"

if "PROFILE_STACKS" in os.environ and not any(NOT_SAMPLED in word for word in sys.orig_argv):
    os.register_at_fork(after_in_child=start)  # a forked process doesn't inherit the timer
    atexit.register(stop)
    start()
next_of_the_name()
