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
        ("/fetch", "asgi", "httpx", True),
        ("/fetch", "asgi", "aiohttp", False),
        ("/async/fetch", "wsgi", "aiohttp", True),
        ("/async/fetch/resilient", "asgi", "requests", False),
        ("/either/fetch", "wsgi", "urllib3", True),
        ("/either/fetch?x=1", "asgi", "urllib3", False),
        ("/either/fetch/resilient", "asgi-layer", "httpx-async", True),
        ("/fetch", "wsgi", "", True),
        ("/fetched", "wsgi", "aiohttp", True),
    ],
)
def test_client_must_match_the_view(path, interface, client, fits):
    assert fetching.fits(path, interface, client) is fits


NEEDS_ORIGIN = '/fetch needs an origin. Set services = ["origin"] in the test, or ORIGIN_URL'
NOT_ASYNC = (
    "HTTP_CLIENT=requests does not work for /async/fetch in this setup. Use one of these clients: aiohttp, httpx-async"
)


@pytest.mark.parametrize(
    ("path", "interface", "env", "services", "says"),
    [
        ("/async/fetch", "asgi", {}, ["origin"], NOT_ASYNC),
        ("/fetch", "wsgi", {}, [], NEEDS_ORIGIN),
        ("/fetch", "wsgi", {"ORIGIN_URL": "http://127.0.0.1:8100"}, [], None),
        ("/", "wsgi", {}, [], None),
    ],
)
def test_error_names_allowed_values(monkeypatch, path, interface, env, services, says):
    requests = {"HTTP_CLIENT": "requests"}
    assert fetching.wrong(path, interface, {**requests, **env}, services) == says
    for name, value in env.items():
        monkeypatch.setenv(name, value)  # as if exported in the shell
    assert fetching.wrong(path, interface, requests, services) == says


RIGHT = {"path": "/either/fetch", "services": ["origin"]}


@pytest.mark.parametrize(
    ("env", "test", "says"),
    [
        ({}, RIGHT, None),
        ({"HTTP_CLIENT": "aiohttp"}, {**RIGHT, "path": "/fetch"}, "gunicorn in .*: HTTP_CLIENT=aiohttp does not work"),
        ({}, {"path": "/either/fetch"}, "gunicorn in test throughput: /either/fetch needs an origin"),
        ({}, {"recipe": "slow"}, r'test throughput: recipe: the test starts no origin. Add services = \["origin"\]'),
        ({}, {**RIGHT, "recipe": "slwo"}, "test throughput: recipe: unknown recipe 'slwo'. Did you mean slow"),
        ({}, {**RIGHT, "recipe": "mine.json"}, r"s\.toml: tests.throughput.recipe: mine.json cannot be read: No such"),
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
    assert slow.description == "GET /either/fetch (the origin plays slow) as fast as 10 connections can"
    assert slow.exact_description != fast.exact_description
    assert not slow.same_as(fast)
    assert slow.start_options != fast.start_options
    slow, fast = recipes("latency", rate=10)
    assert slow.load_step.comparison_key != fast.at_rate(20.0).load_step.comparison_key
    assert slow.load_step.comparison_key == slow.at_rate(20.0).load_step.comparison_key
