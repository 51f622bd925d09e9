"""``python -m loadtests``."""

from loadtests.cli import main

main()
