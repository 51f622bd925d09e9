"""Run the load generator's JavaScript tests with Node."""

import subprocess
from pathlib import Path

import pytest

from loadtests.engines import node

TESTS = sorted(Path(__file__).parent.glob("*.test.js"))


@pytest.mark.parametrize("tests", TESTS, ids=lambda tests: tests.name)
def test_javascript_tests_pass(tests):
    done = subprocess.run([node.require(), "--test", str(tests)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
