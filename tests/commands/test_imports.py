"""What may import what: printing is the work of commands and formats, and `--help` waits for nothing."""

import ast
import subprocess
import sys

import pytest

from loadtests.files import ROOT

# `report` hands the console on to the formats.
PRINTS = (
    "loadtests/commands/",
    "loadtests/report/formats/",
    "loadtests/report/reports.py",
    "loadtests/report/terminal_tables.py",
)
SLOW = {"altair", "django", "lmdb", "numpy", "psutil", "scipy", "vl_convert"}
HELP = """
import sys
sys.argv = ["loadtests", *sys.argv[1:], "--help"]
from loadtests.cli import main
try:
    main()
except SystemExit:
    pass
print("loaded:", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


def imported(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_only_what_prints_imports_rich():
    others = [
        str(file.relative_to(ROOT))
        for file in (ROOT / "loadtests").rglob("*.py")
        if any(name.partition(".")[0] == "rich" for name in imported(file))
        and not str(file.relative_to(ROOT)).startswith(PRINTS)
    ]
    assert others == []


@pytest.mark.parametrize("command", [(), ("run",)])
def test_help_imports_nothing_slow(command):
    done = subprocess.run(
        [sys.executable, "-c", HELP, *command], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert set(done.stdout.rpartition("loaded: ")[2].split()) & SLOW == set()
