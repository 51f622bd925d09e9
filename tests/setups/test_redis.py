"""The Redis of REDIS_URL has to be there before anything is started."""

import socket

import pytest

from loadtests.setups import redis


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_one_that_listens_is_not_refused(listening):
    assert redis.refusal(f"redis://127.0.0.1:{listening}/0") is None


def test_one_on_a_socket_that_listens_is_not_refused(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "redis.sock"))
        server.listen()
        assert redis.refusal(f"unix://{tmp_path}/redis.sock") is None


@pytest.mark.parametrize(
    ("url", "why"), [("redis://127.0.0.1:1", "Connection refused"), ("unix:///nothing", "No such file")]
)
def test_one_that_is_not_there_says_why(url, why):
    assert redis.refusal(url).startswith(why)
