"""Run the load generator's JavaScript tests with Node."""

import subprocess
from pathlib import Path

import pytest

from loadtests.engines import node
from tests.fixtures.exhaustive import exhaustive_but

TESTS = sorted(Path(__file__).parent.glob("*.test.js"))
QUICK = [tests for tests in TESTS if tests.name != "slices_agree.test.js"]  # which simulates hours of load


@pytest.mark.parametrize("tests", exhaustive_but(QUICK, TESTS), ids=lambda tests: tests.name)
def test_javascript_tests_pass(tests):
    done = subprocess.run([node.require(), "--test", str(tests)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
