"""``python -m loadtests``."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # end without a traceback while this imports

from loadtests.cli import main

main()
