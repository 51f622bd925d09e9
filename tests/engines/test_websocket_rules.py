"""Test the WebSocket protocol: the generator accepts valid servers, and explains each violation."""

import dataclasses

import pytest

pytestmark = pytest.mark.servers

BROKEN = "the server broke the rules of WebSockets: "


SHORT = {"rate": 20, "duration_s": 0.2, "connections": 1, "timeout_s": 10}


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("masked", "it masked a frame"),
        ("reserved", "it set a reserved bit without an agreed extension"),
        ("opcode", "it sent a frame of the unknown opcode 3"),
        ("continuation", "it continued a message that it had not started"),
        ("nested", "it started a message before the end of another one"),
        ("fragmented-ping", "it fragmented a control frame"),
        ("long-ping", "it sent a control frame of more than 125 bytes"),
        ("length", "it encoded a length of 1 in more bytes than that takes"),
        ("huge", "it sent a message of 1099511627776 bytes; 67108864 are taken at most"),
        ("text", "it sent a text that is not UTF-8"),
        ("close-code", "it closed with the code 1005, which may not be sent"),
        ("half-code", "it sent an incomplete close code"),
    ],
)
def test_broken_rule_has_a_clear_error(measured, conversing, rule, says):
    server = conversing(breaks=rule)
    result = measured(server.load("echo", **SHORT))
    assert (result.planned, result.ok, result.completed, result.errors) == (4, 0, 0, {"other": 4})
    assert result.examples == {"other": BROKEN + says}
    code = {"text": 1007, "huge": 1009}.get(rule, 1002)
    lost = server.counts()[f"close {code}"]  # a connection that is opened again may get two of the messages
    assert result.connections.reason == BROKEN + says
    assert 1 <= lost <= result.connections.lost <= 4


@pytest.mark.parametrize(
    ("dialect", "rule", "says"),
    [
        ("plain", "accept", "its answer to the handshake has the wrong Sec-WebSocket-Accept"),
        ("plain", "no-upgrade", "its answer to the handshake has no header Upgrade: websocket"),
        ("plain", "extension", "it agreed to the extension 'permessage-deflate', which was not offered"),
        ("plain", "head", "its answer to the handshake starts with 'SSH-2.0-OpenSSH'"),
        ("action-cable", "subprotocol", "it chose no subprotocol"),
    ],
)
def test_broken_handshake_has_a_clear_error(measured, conversing, dialect, rule, says):
    result = measured(conversing(dialect, breaks=rule).load("connect", **SHORT))
    assert (result.ok, result.errors, result.examples) == (0, {"other": 4}, {"other": BROKEN + says})


def test_unanswered_handshake_times_out(measured, conversing):
    server = conversing(breaks="silent")
    result = measured(server.load("connect", rate=20, duration_s=0.5, timeout_s=0.2))
    assert result.errors["timeout"] + result.unfinished == 10
    held = measured(server.load("idle", receivers=3, rate=0, duration_s=0.2, timeout_s=0.2)).connections
    assert (held.opened, held.refused, held.reason) == (0, 3, "not opened in 0.2 s")


def with_option(load, **options):
    return dataclasses.replace(load, conversation=dataclasses.replace(load.conversation, **options))


def test_messages_are_masked_by_default(measured, conversing):
    server = conversing()
    load = server.load("echo", rate=20, duration_s=0.5, connections=1)
    measured(load)
    assert server.counts()["masks of zeros"] == 0
    assert measured(with_option(load, masking=False)).ok == 10
    assert server.counts()["masks of zeros"] >= 10


def test_agreed_compression_is_used(measured, conversing):
    options = {"rate": 20, "duration_s": 0.5, "connections": 1, "size": 1000}
    server = conversing(compress=True)
    result = measured(with_option(server.load("echo", **options), compression=True))
    assert (result.ok, result.errors, result.deliveries.missing) == (10, {}, 0)
    assert server.counts()["compressed"] == 10
    assert result.connections.sent_bytes < 10 * 100
    assert result.connections.received_bytes < 10 * 100
    # A server doesn't have to agree.
    assert measured(with_option(conversing().load("echo", **options), compression=True)).ok == 10
