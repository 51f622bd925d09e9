"""Test errors before a run of views that fetch, such as an unsupported client or a missing origin."""

import contextlib

import pytest

from loadtests.errors import UserError
from loadtests.plan import study as studies
from loadtests.setups import fetching


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    for name in ("HTTP_CLIENT", "ORIGIN_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("path", "interface", "client", "fits"),
    [
        ("/fetch", "wsgi", "httpx", True),
        ("/fetch", "asgi", "aiohttp", False),
        ("/async/fetch/resilient", "asgi", "requests", False),
        ("/either/fetch/resilient", "asgi-layer", "httpx-async", True),
        ("/fetch", "wsgi", "", True),
        ("/fetched", "wsgi", "aiohttp", True),
    ],
)
def test_client_must_match_the_view(path, interface, client, fits):
    assert fetching.fits(path, interface, client) is fits


RIGHT = {"path": "/either/fetch", "services": ["origin"]}


@pytest.mark.parametrize(
    ("env", "test", "says"),
    [
        ({}, RIGHT, None),
        ({"HTTP_CLIENT": "aiohttp"}, {**RIGHT, "path": "/fetch"}, "gunicorn in .*: HTTP_CLIENT=aiohttp does not work"),
        ({}, {"path": "/either/fetch"}, "gunicorn in test throughput: /either/fetch needs an origin"),
        ({}, {"recipe": "slow"}, r'test throughput: recipe: the test starts no origin. Add services = \["origin"\]'),
        ({}, {**RIGHT, "recipe": "slwo"}, "test throughput: unknown recipe 'slwo'. Did you mean slow"),
    ],
)
def test_impossible_fetch_is_refused_early(bench_of, env, test, says):
    table = {"setups": [{"setup": "gunicorn", "env": env}], "tests": {"throughput": {"duration": "1s", **test}}}
    with pytest.raises(UserError, match=f"^{says}") if says else contextlib.nullcontext():
        study = studies.parse(table, "s", "s.toml")
        bench_of(study, None).require(study)


def recipes(kind, **keys):
    """Return two tests of this kind whose origins play different recipes."""
    table = {name: {"kind": kind, "duration": "1s", **RIGHT, **keys, "recipe": name} for name in ("slow", "fast")}
    return studies.parse({"setups": ["gunicorn", "uvicorn"], "tests": table}, "s", "s.toml").tests


def test_different_recipes_are_different_tests():
    slow, fast = recipes("throughput")
    assert slow.description == "GET /either/fetch (the origin plays slow) in a closed loop with 10 connections"
    assert slow.exact_description != fast.exact_description
    assert not slow.same_as(fast)
    assert slow.start_options != fast.start_options
    slow, fast = recipes("latency", rate=10)
    assert slow.load_step.comparison_key != fast.at_rate(20.0).load_step.comparison_key
    assert slow.load_step.comparison_key == slow.at_rate(20.0).load_step.comparison_key
