"""The generator's schedule, tested where it lives: in Node."""

import subprocess
from pathlib import Path

from loadtests.engines import node


def test_the_schedule():
    tests = Path(__file__).with_name("schedule.test.js")
    done = subprocess.run([node.require(), "--test", str(tests)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
