"""Load on a URL: what a person says of the requests, and the search for the URL's capacity."""

import time

import pytest

from loadtests.errors import UserError
from loadtests.measure import url as urls
from loadtests.measure.url import Asked
from loadtests.workload import Request

MIX = """
[[requests]]
name = "front [page]"
path = "/ok"
weight = 2
at = [0, 0.4]

[[requests]]
path = "/status/503"
at = [0.2]
"""


@pytest.fixture
def mix(tmp_path):
    file = tmp_path / "mix.toml"
    file.write_text(MIX)
    return file


def parse(asked, url="http://127.0.0.1:8000/", rate=None, duration=None):
    return urls.parse(url, asked, rate, None, duration, "10s", 1, False)


def test_a_request_in_full(tmp_path):
    (tmp_path / "body").write_bytes(b"\xff")
    asked = Asked("POST", ("Accept: text/html", "X-A:b:c"), f"@{tmp_path / 'body'}")
    load = parse(asked, "http://127.0.0.1:8000/a?b=1")
    assert load.origin == "http://127.0.0.1:8000"
    headers = (("Accept", "text/html"), ("X-A", "b:c"))
    assert load.requests == (Request("POST /a?b=1", "POST", "/a?b=1", headers, b"\xff"),)
    assert (load.rate, load.connections, load.duration_s) == (None, 10, 10)
    assert parse(Asked(body="text")).requests[0].body == b"text"


def test_the_user_of_a_url_is_sent_as_a_header(mix):
    header = ("Authorization", "Basic YWRhOmh1bnRlcjo=")
    load = parse(Asked(headers=("A: b",)), "http://ada:hunter%3A@127.0.0.1:8000/a")
    assert (load.origin, load.requests[0].headers) == ("http://127.0.0.1:8000", (("A", "b"), header))
    load = parse(Asked(workload=mix), "http://ada:hunter%3A@127.0.0.1:8000/", rate=5.0)
    assert [request.headers for request in load.requests] == [(header,), (header,)]
    search = urls.search("http://ada:hunter%3A@127.0.0.1:8000/a", (), "p99<2s", 100.0, 100.0, "1s", "1s", None, False)
    assert (search.load.origin, search.load.requests[0].headers) == ("http://127.0.0.1:8000", (header,))
    with pytest.raises(UserError, match="GET / has a header Authorization, and the URL names a user; leave one"):
        parse(Asked(headers=("authorization: x",)), "http://ada@127.0.0.1:8000/")


@pytest.mark.parametrize(
    "url",
    [
        "ada:hunter2@127.0.0.1/", "ftp://ada:hunter2@127.0.0.1/", "http://ada:hunter2@127.0.0.1:port/", "http://ada:hunter2@/",
        "http://ada:hunter2@192.0.2.1/", "http://ada:hunter2@127.0.0.1/a b", "http://ada:hunter2@[::1/",
        "http://ada:hunter2@127.0.0.1\uff0e/", "http://ada:hunter2@127.0.0.1/\x01",
    ],
)  # fmt: skip
def test_a_password_in_a_url_is_in_no_error(url):
    with pytest.raises(UserError) as error:
        parse(Asked(), url)
    assert "hunter2" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_load_is_even_and_a_search_random_unless_it_is_said():
    def load(*arrivals):
        return urls.parse("http://127.0.0.1:8000/", Asked(), 5.0, None, None, "10s", 1, False, *arrivals).arrival_seed

    def search(*arrivals):
        wanted = urls.search("http://127.0.0.1:8000/", (), "p99<2s", 100.0, 100.0, "1s", "1s", None, False, *arrivals)
        return wanted.load.arrival_seed

    assert load() is load("even") is search("even") is None
    assert load("random") == search() == search("random") is not None


def test_a_fragment_is_never_sent():
    assert parse(Asked(), "http://127.0.0.1:8000/a#b").requests[0].path == "/a"


def test_a_workload_file(mix):
    load = parse(Asked(workload=mix), rate=5.0, duration="2s")
    assert [request.path for request in load.requests] == ["/ok", "/status/503"]
    assert (load.rate, load.recorded, load.duration_s) == (5, (), 2)


def test_a_replay_lasts_as_long_as_its_recording_unless_it_is_cut(mix):
    load = parse(Asked(workload=mix, speed=0.1))
    assert load.recorded == ((0, 0), (2, 1), (4, 0))
    assert (load.duration_s, load.rate) == (6, 0.5)
    cut = parse(Asked(workload=mix, speed=0.1), duration="3s")
    assert (cut.recorded, cut.duration_s) == (((0, 0), (2, 1)), 3)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (Asked("BREW"), r"^--method: is 'BREW'; allowed: GET"),
        (Asked("GET\nX"), r"^--method: is 'GET\\nX'; allowed: GET"),
        (Asked(headers=("X: hunter2\u65e5",)), r"^--header: X: its value is not a line of Latin-1 text"),
        (Asked(headers=("nonsense",)), r"^--header 'nonsense': write a name, a colon and a value"),
        (Asked(headers=("Content-Length: 1",)), r"^--header: Content-Length is set by what sends"),
        (Asked(body="@none"), r"^--body @none: none cannot be read: No such file"),
        (Asked(speed=2), r"^--speed replays a recorded workload; name its file with --workload"),
        (Asked(speed=0), r"^--speed replays a recorded workload; name its file with --workload"),
    ],
)
def test_a_mistake_gets_one_line(asked, says):
    with pytest.raises(UserError, match=says) as error:
        parse(asked)
    assert "\n" not in str(error.value)


def test_a_workload_says_all_of_the_requests(mix):
    for asked in (Asked("POST", workload=mix), Asked(headers=("A: b",), workload=mix), Asked(body="", workload=mix)):
        with pytest.raises(UserError, match="--workload names the requests"):
            parse(asked)
    with pytest.raises(
        UserError, match=r"--workload names the paths; write the URL without one: http://127.0.0.1:8000$"
    ):
        parse(Asked(workload=mix), "http://127.0.0.1:8000/a")
    with pytest.raises(UserError, match="does not go with --rate"):
        parse(Asked(workload=mix, speed=1), rate=5.0)


def test_an_engine_is_asked_for_no_more_than_it_can(mix):
    def send(load):
        urls.send("loadtest", load, lambda second: None)

    with pytest.raises(UserError, match="the engine loadtest cannot send a mix of requests; use openloop"):
        send(parse(Asked(workload=mix), rate=5.0))
    with pytest.raises(UserError, match="the engine loadtest cannot share a load among several processes; use"):
        send(urls.parse("http://127.0.0.1:8000/", Asked(), None, None, None, "10s", 2, False))


@pytest.mark.servers
def test_a_slow_url_is_waited_for_no_longer_than_it_takes(server):
    search = urls.search(f"{server.url}/after/300", (), "p50<2s", 40.0, 40.0, "500ms", "500ms", None, False)
    probed = []
    begun = time.monotonic()
    found = urls.find_capacity(search, probed.append)
    assert [one.judgement.outcome.value for one in probed] == ["pass", "pass"]
    assert found.record().rate == 40.0
    # Each probe was begun after three answers of 0.3 s; one more wait in vain would be 20 s.
    assert time.monotonic() - begun < 20


@pytest.mark.servers
def test_a_url_that_does_not_answer_is_not_waited_for(unused_port):
    search = urls.search(f"http://127.0.0.1:{unused_port}/", (), "p50<2s", 40.0, 40.0, "500ms", "500ms", None, False)
    begun = time.monotonic()
    with pytest.raises(UserError, match=r"no request was answered as expected: 20 connect ECONNREFUSED"):
        urls.find_capacity(search, lambda probed: None)
    assert time.monotonic() - begun < 20
