"""Test the environment variables of the fetching views, which the project and harness must check in the same way."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from fetching import clients
from testproject.settings import fetching as project

from loadtests.setups import fetching as harness
from loadtests.setups import knobs

RIGHT = [
    ("HTTP_CLIENT", "httpx-async", "client", "httpx-async"),
    ("POOL_SIZE", "1", "pool_size", 1),
    ("POOL_SIZE", "10000", "pool_size", 10_000),
    ("POOLS", "64", "pools", 64),
    ("FETCH_TIMEOUT", "0.05", "timeout_s", 0.05),
    ("FETCH_TIMEOUT", "60", "timeout_s", 60.0),
    ("FETCH_KEEP_ALIVE", "0", "keep_alive", False),
    ("ORIGIN_URL", "http://127.0.0.1:8100", "url", "http://127.0.0.1:8100"),
    ("ORIGIN_URL", "http://localhost:8100/", "url", "http://localhost:8100"),
    ("ORIGIN_URL", "http://[::1]:8100", "url", "http://[::1]:8100"),
    ("ORIGIN_PATH", "/news/today", "path", "/news/today"),
]
WRONG = {
    "HTTP_CLIENT": ["curl"],
    "POOL_SIZE": ["0", "10001", "ten"],
    "POOLS": ["65"],
    "FETCH_TIMEOUT": ["0", "61", "nan", "soon"],
    "FETCH_KEEP_ALIVE": ["yes"],
    "ORIGIN_URL": [
        *("http://192.0.2.1:8100", "http://example.org", "https://127.0.0.1:8100", "http://127.0.0.1:8100/news"),
        *(
            "http://127.0.0.1:8100/?a=1",
            "http://127.0.0.1:8100#x",
            "http://me@127.0.0.1:8100",
            "http://127.0.0.1:99999",
        ),
    ],
    "ORIGIN_PATH": ["news", "/a b"],
}


@pytest.mark.parametrize(("name", "value", "field", "expected"), RIGHT)
def test_variables_become_settings(name, value, field, expected):
    assert getattr(project.fetching({name: value}), field) == expected
    assert knobs.KNOBS[name].fits(value)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_invalid_setting_is_refused_everywhere(name, value):
    with pytest.raises(ImproperlyConfigured, match=f"{name} must be "):
        project.fetching({name: value})
    assert not knobs.KNOBS[name].fits(value)


def test_empty_variable_means_default():
    assert project.fetching(dict.fromkeys(knobs.FETCHING, "")) == project.fetching({})
    assert project.fetching({"RUN_DIR": "/run/x"}).url_file == Path("/run/x/origin.url")


def test_harness_matches_the_project():
    assert set(project.CLIENTS) == set(harness.CLIENTS) == {*clients.OF_THREADS, *clients.OF_LOOPS}
    assert tuple(clients.OF_THREADS) == harness.SYNCHRONOUS
    assert tuple(clients.OF_LOOPS) == harness.ASYNCHRONOUS
    assert (project.POOL_SIZE, project.POOLS) == (knobs.POOL_SIZE, knobs.POOLS)
    assert knobs.FETCH_TIMEOUT_S == project.TIMEOUT_S
