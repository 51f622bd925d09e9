import os
import subprocess
import sys
from collections import Counter

import pytest

from loadtests import hosts, setups
from loadtests.observe.cores import Cores
from loadtests.profile import oncpu
from loadtests.profile.document import document
from loadtests.profile.record import Plan, ProfileRound, Window
from loadtests.profile.shares import Sampled
from loadtests.profile.stacks import INSTALLED, PROJECT, STANDARD, Frame, Reader
from loadtests.records import Process
from loadtests.setups.application import sample
from loadtests.workload import Load, Request
from tests.fixtures.results import good_result


def frame_of(text):
    """Return the frame that a text such as ``function path`` describes.

    The prefix ``lib:`` of a path means the standard library, and ``app:`` means the project.
    """
    name, _, path = text.partition(" ")
    origin = {"lib": STANDARD, "app": PROJECT}.get(path.partition(":")[0], INSTALLED)
    return Frame(name, path.partition(":")[2] or path, origin)


@pytest.fixture
def stack():
    """Return a function that creates a stack from descriptions of its frames, with the outermost frame first."""
    return lambda *texts: tuple(map(frame_of, texts))


@pytest.fixture
def stacks(stack):
    """Return samples of a function, of a function that it calls, and of an unrelated function."""
    return Counter(
        {
            stack("main gunicorn/base.py", "view app:views.py"): 6,
            stack("main gunicorn/base.py"): 3,
            stack("<lambda> gunicorn/other.py"): 1,
        }
    )


@pytest.fixture
def sampled(tmp_path):
    """Return a function that runs a Python program under the sampler.

    The function returns the samples of the program's processes, and the program's output.
    """

    def run(program, *more_paths):
        stacks = tmp_path / "stacks"
        stacks.mkdir()
        existing = os.pathsep.join(map(str, more_paths))
        env = {**os.environ, **oncpu.environment(stacks, existing)}
        (tmp_path / "program.py").write_text(program)
        command = [sys.executable, str(tmp_path / "program.py")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        found = oncpu.between(stacks, {}, oncpu.sizes(stacks), Reader(str(tmp_path)))
        return list(found.values()), done.stdout

    return run


@pytest.fixture
def rounds(stacks):
    """Return two rounds of a profile with two roles: a Python server, and Redis.

    In each load, 1,000 requests were answered in 10 s.
    """
    load = Load("http://127.0.0.1:1", (Request("GET /"),), rate=200.0, duration_s=10.0)
    result = good_result(load, completed=1000, ok=1000, unfinished=1000, rate=100.0)
    rows = (
        Process("web", "gunicorn", 1, 5.0, peak_rss_mb=60.0, rss_mb=55.0, context_switches=10),
        Process("redis", "redis-server", 2, 1.0, peak_rss_mb=10.0, rss_mb=9.0, context_switches=10),
    )
    common = {"seconds": 10.0, "interval_s": 0.5}
    web = Sampled(role="web", name="gunicorn", cpu_s=5.0, stacks=stacks, **common)
    redis = Sampled(role="redis", name="redis-server", cpu_s=1.0, stacks=None, **common)
    window = Window(result, rows)
    return [ProfileRound(window, [window], [web, redis]) for _ in range(2)]


@pytest.fixture
def plan():
    """Return the plan of a profile of Gunicorn at a rate that it didn't sustain."""
    return Plan(
        setup=setups.known()["gunicorn"],
        application=sample(),
        path="/",
        rate=200.0,
        duration_s=10.0,
        rounds=2,
        host=hosts.at("local"),
        bind="127.0.0.1",
        port=8000,
        cores=Cores((0,), (1,)),
        remarks=("the project has a remark",),
    )


@pytest.fixture
def about(plan, rounds):
    """Return the content of the profile's file, as a dictionary."""
    return document(plan, rounds)
