"""Test load on a URL: the requests, and the search for the server's capacity."""

import pytest

from loadtests.errors import UserError
from loadtests.measure import url as urls
from loadtests.measure.url import UrlLoad, UrlRequests, UrlSearchOptions
from loadtests.workload import Request

URL = "http://127.0.0.1:8000/"
LOGIN = "http://ada:hunter%3A@127.0.0.1:8000/"


def parse(requests, url=URL, **options):
    return UrlLoad(url, requests, **options).load()


def search_of(url, objective="p99<2s", rate=100.0, **options):
    load = UrlLoad(url, rate=rate, **{"arrivals": "random", **options})
    return UrlSearchOptions(load, objective, rate, "500ms", "500ms").search()


def test_options_define_the_request(tmp_path):
    (tmp_path / "body").write_bytes(b"\xff")
    asked = UrlRequests("POST", ("Accept: text/html", "X-A:b:c"), f"@{tmp_path / 'body'}")
    load = parse(asked, f"{URL}a?b=1#a-fragment-is-never-sent")
    assert load.origin == "http://127.0.0.1:8000"
    headers = (("Accept", "text/html"), ("X-A", "b:c"))
    assert load.requests == (Request("POST /a?b=1", "POST", "/a?b=1", headers, b"\xff"),)
    assert (load.rate, load.connections, load.duration_s) == (None, 10, 10)
    assert parse(UrlRequests(body="text")).requests[0].body == b"text"


def test_user_in_url_becomes_header(mix):
    header = ("Authorization", "Basic YWRhOmh1bnRlcjo=")
    for load, headers in (
        (parse(UrlRequests(headers=("A: b",)), f"{LOGIN}a"), (("A", "b"), header)),
        (parse(UrlRequests(workload=mix), LOGIN, rate=5.0), (header,)),
        (search_of(f"{LOGIN}a").load, (header,)),
    ):
        assert load.origin == "http://127.0.0.1:8000"
        assert {request.headers for request in load.requests} == {headers}
    with pytest.raises(UserError, match=r"GET / has an Authorization header, and the URL contains a login. Leave one"):
        parse(UrlRequests(headers=("authorization: x",)), LOGIN)


@pytest.mark.parametrize(
    "url",
    [
        "ada:hunter2@127.0.0.1/", "ftp://ada:hunter2@127.0.0.1/", "http://ada:hunter2@127.0.0.1:port/", "http://ada:hunter2@/",
        "http://ada:hunter2@192.0.2.1/", "http://ada:hunter2@127.0.0.1/a b", "http://ada:hunter2@[::1/",
        "http://ada:hunter2@127.0.0.1\uff0e/", "http://ada:hunter2@127.0.0.1/\x01",
    ],
)  # fmt: skip
def test_password_in_url_is_hidden(url):
    with pytest.raises(UserError) as error:
        parse(UrlRequests(), url)
    assert "hunter2" not in str(error.value)
    assert "\n" not in str(error.value)


def test_arrivals_default_depends_on_command():
    def load(arrivals=None):
        return UrlLoad(URL, rate=5.0, arrivals=arrivals).load().arrival_seed

    def search(**arrivals):
        return search_of(URL, **arrivals).load.arrival_seed

    assert load() is load("even") is search(arrivals="even") is None
    assert load("random") == search() is not None


def test_replay_lasts_as_recorded(mix):
    load = parse(UrlRequests(workload=mix, speed=0.1))
    assert [request.path for request in load.requests] == ["/ok", "/status/503"]
    assert load.recorded == ((0, 0), (2, 1), (4, 0))
    assert (load.duration_s, load.rate) == (6, 0.5)
    cut = parse(UrlRequests(workload=mix, speed=0.1), duration="3s")
    assert (cut.recorded, cut.duration_s) == (((0, 0), (2, 1)), 3)
    mixed = parse(UrlRequests(workload=mix), rate=5.0, duration="2s")
    assert (mixed.rate, mixed.recorded, mixed.duration_s) == (5, (), 2)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"method": "GET\nX"}, r"^--method: must be one of GET, .*, not 'GET\\nX'"),
        ({"headers": ("X: hunter2\u65e5",)}, r"^--header: X: its value is not a line of Latin-1 text"),
        ({"headers": ("nonsense",)}, r"^--header 'nonsense': must be a name, a colon and a value"),
        ({"headers": ("Content-Length: 1",)}, r"^--header: Content-Length is set by the load generator"),
        ({"body": "@none"}, r"^--body @none: none cannot be read: No such file"),
        ({"speed": 0}, r"^--speed only works with a recorded workload. Name its file with --workload"),
        ({"workload": True, "method": "POST"}, "--workload defines the requests"),
        ({"workload": True, "headers": ("A: b",)}, "--workload defines the requests"),
        ({"workload": True, "body": ""}, "--workload defines the requests"),
        ({"workload": True, "speed": 1, "rate": 5.0}, "Leave out --rate"),
        ({"workload": True, "url": f"{URL}a"}, r"--workload defines the paths. Write the URL without a path: .*8000$"),
    ],
)
def test_invalid_options_are_clear_errors(mix, asked, says):
    options = {key: asked[key] for key in ("url", "rate") if key in asked}
    requests = {key: mix if key == "workload" else asked[key] for key in asked if key not in options}
    with pytest.raises(UserError, match=says) as error:
        parse(UrlRequests(**requests), **options)
    assert "\n" not in str(error.value)


@pytest.mark.servers
def test_slow_url_is_awaited_briefly(server):
    # Each probe starts after three answers, which take 0.3 s each.
    search = search_of(f"{server.url}/after/300", "p50<2s", 40.0, timeout="600s")
    probed, seconds = [], []
    found = urls.find_capacity(search, probed.append, seconds.append)
    assert sum(second.completed for second in seconds) == sum(one.result.completed for one in probed)
    assert [one.judgement.outcome.value for one in probed] == ["pass", "pass"]
    assert found.record().rate == 40.0


@pytest.mark.servers
def test_unresponsive_url_is_not_awaited(unused_port):
    search = search_of(f"http://127.0.0.1:{unused_port}/", "p50<2s", 40.0, timeout="600s")
    with pytest.raises(UserError, match=r"no request was answered as expected: 20 connect ECONNREFUSED"):
        urls.find_capacity(search, lambda probed: None, lambda second: None)
