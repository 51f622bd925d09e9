"""Run the command line with ``python -m loadtests``."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # don't print a traceback while the imports run

from loadtests.cli import main

main()
