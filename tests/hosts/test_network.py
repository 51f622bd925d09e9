"""Whether an address leads to the host that SSH came to: shown by a bare server on the very port."""

import socket

import pytest

from loadtests.errors import UserError
from loadtests.hosts import network
from loadtests.hosts.proof import ProofServer


@pytest.fixture
def prover(free_port):
    made = ProofServer("the token", "127.0.0.1", free_port)
    yield ("127.0.0.1", free_port)
    made.close()


def test_who_knows_the_token_is_the_host_and_the_way_there_is_measured(prover):
    seen = network.look("ssh://other", prover, "the token", "10.0.0.1")
    assert seen.round_trip_ms > 0
    assert seen.megabits_per_s > 0


def test_who_knows_another_token_is_somebody_else(prover):
    with pytest.raises(UserError, match=r"^127\.0\.0\.1:\d+ is not the host that ssh://other leads to$"):
        network.look("ssh://other", prover, "another token", "10.0.0.1")


def test_where_nobody_answers_it_is_said_what_to_let_through(free_port):
    with pytest.raises(UserError, match=r"though SSH can: .*sudo ufw allow proto tcp from 10\.0\.0\.1 to any port"):
        network.look("ssh://other", ("127.0.0.1", free_port), "the token", "10.0.0.1")


def test_a_port_on_which_nothing_can_listen_is_named(free_port):
    with (
        socket.create_server(("127.0.0.1", free_port)),
        pytest.raises(UserError, match=rf"^nothing can listen on 127\.0\.0\.1:{free_port} there: "),
    ):
        ProofServer("the token", "127.0.0.1", free_port)
