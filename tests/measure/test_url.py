"""Test load on a URL: the requests, and the search for the server's capacity."""

import pytest

from loadtests.errors import UserError
from loadtests.measure import url as urls
from loadtests.measure.url import UrlOptions
from loadtests.workload import Request

URL = "http://127.0.0.1:8000/"


def load_of(url=URL, **options):
    return urls.fixed_or_closed(UrlOptions(url, **options), None, 10.0, "10s", 1)


def test_options_define_the_request():
    url = f"{URL}a?b=1#a-fragment-is-never-sent"
    load = load_of(url, method="POST", header=("Accept: text/html", "X-A:b:c"), body="text")
    assert load.origin == "http://127.0.0.1:8000"
    headers = (("Accept", "text/html"), ("X-A", "b:c"))
    assert load.requests == (Request("POST /a?b=1", "POST", "/a?b=1", headers, b"text"),)
    assert (load.rate, load.connections, load.duration_s) == (None, 10, 10)


@pytest.mark.parametrize(
    "url",
    [
        "ada:hunter2@127.0.0.1/", "ftp://ada:hunter2@127.0.0.1/", "http://ada:hunter2@127.0.0.1:port/",
        "http://ada:hunter2@127.0.0.1/", "http://ada:hunter2@192.0.2.1/", "http://ada:hunter2@127.0.0.1/a b",
        "http://ada:hunter2@[::1/", "http://ada:hunter2@127.0.0.1\uff0e/",
    ],
)  # fmt: skip
def test_password_in_url_is_hidden(url):
    with pytest.raises(UserError) as error:
        load_of(url)
    assert "hunter2" not in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "GET\nX"}, r"^--method: must be one of GET, .*, not 'GET\\nX'"),
        ({"header": ("X: hunter2\u65e5",)}, r"^--header: X: its value is not a line of Latin-1 text"),
        ({"header": ("hunter2",)}, r"^--header: write a name, a colon and a value"),
        ({"workload": True, "method": "POST"}, "--workload defines the requests"),
        ({"workload": True, "url": f"{URL}a"}, r"--workload defines the paths. Write the URL without a path: .*8000$"),
    ],
)
def test_invalid_options_are_clear_errors(mix, options, says):
    with pytest.raises(UserError, match=says) as error:
        load_of(**{key: mix if key == "workload" else value for key, value in options.items()})
    assert "hunter2" not in str(error.value)


@pytest.mark.servers
def test_slow_url_is_awaited_briefly(server):
    # Each probe starts after three answers, which take 0.3 s each.
    search = urls.search(UrlOptions(f"{server.url}/after/300"), "p50<2s", 40.0, 40.0, "500ms", "500ms")
    probed, seconds = [], []
    found = urls.find_capacity(search, probed.append, seconds.append)
    assert sum(second.completed for second in seconds) == sum(probe.ok for probe in probed)
    assert [probe.outcome for probe in probed] == ["pass", "pass"]
    assert found.rate == 40.0


@pytest.mark.servers
def test_unresponsive_url_is_not_awaited(unused_port):
    search = urls.search(UrlOptions(f"http://127.0.0.1:{unused_port}/"), "p50<2s", 40.0, 40.0, "500ms", "500ms")
    with pytest.raises(UserError, match=r"no request was answered as expected: 20 connect ECONNREFUSED"):
        urls.find_capacity(search, lambda probed: None, lambda second: None)
