"""Runs in every Python process of a setup: writes down the stack of the thread that is on the CPU, every 10 ms of CPU.

Python imports a module of this name at its start when the folder is on PYTHONPATH. The kernel's profiling timer
(setitimer(2), ITIMER_PROF) runs with the CPU time of the whole process and interrupts the thread that is using it;
faulthandler, which is made for signal handlers, writes that thread's stack to a file named after the process, without
waiting for the GIL. Only the standard library is at hand here, and any Python that Django runs on.
"""

import atexit
import faulthandler
import importlib.machinery
import importlib.util
import os
import signal
import sys

INTERVAL_S = 0.00997  # not a whole number of milliseconds: nothing else keeps step with it


def start() -> None:
    """Samples this process from now on."""
    path = os.path.join(os.environ["PROFILE_STACKS"], str(os.getpid()))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    faulthandler.register(signal.SIGPROF, file=file, all_threads=False, chain=False)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)


def stop() -> None:
    """Stops the timer: faulthandler's own end comes before the process's, and the signal by itself is deadly."""
    signal.setitimer(signal.ITIMER_PROF, 0)


def next_of_the_name() -> None:
    """Runs the module of this name that this one hides, where the project or the system has one."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [folder for folder in sys.path if os.path.abspath(folder) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


# supervisord forks and then becomes another program, which would inherit the timer but not what handles its signal.
NOT_SAMPLED = "supervisord"

if "PROFILE_STACKS" in os.environ and not any(NOT_SAMPLED in word for word in sys.orig_argv):
    os.register_at_fork(after_in_child=start)  # timers do not survive a fork
    atexit.register(stop)
    start()
next_of_the_name()
