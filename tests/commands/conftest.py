"""The command line within this process: the same way in, without a new Python for each test."""

import signal
import sys

import pytest

from loadtests.cli import main


@pytest.fixture
def command(monkeypatch, capsys):
    """A function: runs a command; gives the exit code, what was printed, and what was printed as an error."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["loadtests", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)
