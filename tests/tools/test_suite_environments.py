"""Test the environments in which the packages' test suites run."""

import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

SUITES = Path(__file__).parents[2] / "packages/hopless/suites"
ASKING = 3


@pytest.fixture
def environments(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SUITES)
    import environments

    monkeypatch.setattr(environments, "CACHE", tmp_path / "cache")
    return environments


def test_threads_share_a_new_environment(environments, monkeypatch):
    commands = []
    another_came = threading.Event()

    def run(command, check):
        commands.append(command[1])
        if command[1] == "venv":
            if len(commands) > 1:
                another_came.set()
            another_came.wait(0.2)  # without a lock, another thread would create the environment now
            command[-1].mkdir(exist_ok=True)

    monkeypatch.setattr(subprocess, "run", run)
    together = threading.Barrier(ASKING)

    def ask(_):
        together.wait()
        return environments.environment("python3", ["django"])

    with ThreadPoolExecutor(ASKING) as pool:
        assert len(set(pool.map(ask, range(ASKING)))) == 1
    assert commands == ["venv", "pip"]
