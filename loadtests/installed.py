"""Run the command line of an installed benchmark: the wheel has this file as django_serving_benchmark/__init__.py."""

import sys
from pathlib import Path


def main() -> None:
    """Put the folder of this file on the path, where the packages have the same names as in a clone."""
    sys.path.insert(0, str(Path(__file__).parent))
    from loadtests.cli import main

    main()
