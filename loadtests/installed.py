"""Run the command line of an installed benchmark. In the wheel, this file is django_serving_benchmark/__init__.py."""

import sys
from pathlib import Path


def main() -> None:
    """Run the command line with the packages next to this file, which have the same names as in a clone."""
    sys.path.insert(0, str(Path(__file__).parent))
    from loadtests.cli import main

    main()
