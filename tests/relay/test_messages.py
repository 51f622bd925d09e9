import pytest
from channels_relay.messages import CHUNK, InOrder, portable, split
from channels_relay.options import Options, options
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings


def given_out(order, *numbers):
    return [part["number"] for number in numbers for part in order.add({"number": number})]


def test_parts_come_out_in_order():
    assert given_out(InOrder(), 2, 0, 3, 1) == [0, 1, 2, 3]


def test_a_part_comes_out_once():
    assert given_out(InOrder(), 0, 0, 2, 2, 1, 1) == [0, 1, 2]


def test_what_is_missing_has_a_name():
    order = InOrder()
    assert given_out(order, 0, 2) == [0]
    assert order.gap == "part 1 never came"


@pytest.mark.parametrize(("size", "pieces"), [(0, [0]), (1, [1]), (CHUNK, [CHUNK]), (CHUNK + 1, [CHUNK, 1])])
def test_a_body_is_split_at_the_size_of_a_message(size, pieces):
    assert [len(piece) for piece in split(bytes(size))] == pieces


def test_the_server_keeps_its_own_objects():
    assert portable({"type": "http", "path": "/", "state": {}, "extensions": {}}) == {"type": "http", "path": "/"}


def test_options_come_from_the_settings():
    with override_settings(CHANNELS_RELAY={"timeout": 2, "body_limit": 10}):
        assert options() == Options(timeout=2, body_limit=10)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"timout": 2}, "unknown timout; allowed: timeout, body_limit, layer, application"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": "30"}, "timeout is '30'"),
        ({"body_limit": -1}, "body_limit is -1"),
    ],
)
def test_options_that_make_no_sense_are_refused(given, complaint):
    with override_settings(CHANNELS_RELAY=given), pytest.raises(ImproperlyConfigured, match=complaint):
        options()
