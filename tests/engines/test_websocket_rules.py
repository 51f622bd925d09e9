"""Test that the load generator explains violations of the WebSocket protocol, and supports its options."""

import dataclasses

import pytest

pytestmark = pytest.mark.servers

BROKEN = "WebSocket protocol error: "


SHORT = {"rate": 20, "duration_s": 0.2, "connections": 1, "timeout_s": 10}


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("masked", "the server masked a frame"),
        ("reserved", "the server set a reserved bit without an agreed extension"),
        ("opcode", "the server sent a frame with the unknown opcode 3"),
        ("continuation", "the server continued a message that it had not started"),
        ("nested", "the server started a message before the end of another message"),
        ("fragmented-ping", "the server fragmented a control frame"),
        ("long-ping", "the server sent a control frame of more than 125 bytes"),
        ("length", "the server encoded the length 1 in more bytes than necessary"),
        ("huge", "the server sent a message of 1099511627776 bytes. At most 67108864 bytes are allowed"),
        ("text", "the server sent text that is not UTF-8"),
        ("close-code", "the server closed with the code 1005, which is not allowed"),
        ("half-code", "the server sent an incomplete close code"),
    ],
)
def test_protocol_violation_is_explained(measured, conversing, rule, says):
    server = conversing(breaks=rule)
    result = measured(server.load("echo", **SHORT))
    assert (result.planned, result.ok, result.completed, result.errors) == (4, 0, 0, {"other": 4})
    assert result.examples == {"other": BROKEN + says}
    code = {"text": 1007, "huge": 1009}.get(rule, 1002)
    lost = server.counts()[f"close {code}"]  # a connection may transmit several messages before it closes
    assert result.connections.reason == BROKEN + says
    assert 1 <= lost <= result.connections.lost <= 4


@pytest.mark.parametrize(
    ("dialect", "rule", "says"),
    [
        ("plain", "accept", "the answer to the handshake has the wrong Sec-WebSocket-Accept"),
        ("plain", "no-upgrade", "the answer to the handshake has no header Upgrade: websocket"),
        ("plain", "extension", "the server agreed to the extension 'permessage-deflate', which was not offered"),
        ("plain", "head", "the server's answer to the handshake starts with 'SSH-2.0-OpenSSH'"),
        ("action-cable", "subprotocol", "the server chose no subprotocol"),
    ],
)
def test_invalid_handshake_is_explained(measured, conversing, dialect, rule, says):
    result = measured(conversing(dialect, breaks=rule).load("connect", **SHORT))
    assert (result.ok, result.errors, result.examples) == (0, {"other": 4}, {"other": BROKEN + says})


def test_unanswered_handshake_times_out(measured, conversing):
    server = conversing(breaks="silent")
    result = measured(server.load("connect", rate=20, duration_s=0.5, timeout_s=0.2))
    assert result.errors["timeout"] + result.unfinished == 10
    held = measured(server.load("idle", receivers=3, rate=0, duration_s=0.2, timeout_s=0.2)).connections
    assert (held.opened, held.refused, held.reason) == (0, 3, "opening took over 0.2 s")


def with_option(load, **options):
    return dataclasses.replace(load, conversation=dataclasses.replace(load.conversation, **options))


def test_messages_are_masked_by_default(measured, conversing):
    server = conversing()
    load = server.load("echo", rate=20, duration_s=0.5, connections=1)
    measured(load)
    assert server.counts()["masks of zeros"] == 0
    assert measured(with_option(load, masking=False)).ok == 10
    assert server.counts()["masks of zeros"] >= 10


def test_compression_is_used_if_agreed(measured, conversing):
    options = {"rate": 20, "duration_s": 0.5, "connections": 1, "size": 1000}
    server = conversing(compress=True)
    result = measured(with_option(server.load("echo", **options), compression=True))
    assert (result.ok, result.errors, result.deliveries.missing) == (10, {}, 0)
    assert server.counts()["compressed"] == 10
    assert result.connections.sent_bytes < 10 * 100
    assert result.connections.received_bytes < 10 * 100
    # The server may decline the compression.
    assert measured(with_option(conversing().load("echo", **options), compression=True)).ok == 10
