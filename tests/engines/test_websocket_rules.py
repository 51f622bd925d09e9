"""Test that the load generator explains violations of the WebSocket protocol."""

import pytest

pytestmark = pytest.mark.servers

BROKEN = "WebSocket protocol error: "


SHORT = {"rate": 20, "duration_s": 0.2, "connections": 1, "timeout_s": 10}


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("masked", "the server masked a frame"),
        ("continuation", "the server mixed up the fragments of its messages"),
        ("huge", "the server sent a message of 1099511627776 bytes. At most 67108864 bytes are allowed"),
        ("text", "the server sent text that is not UTF-8"),
    ],
)
def test_protocol_violation_is_explained(measured, conversing, rule, says):
    server = conversing(breaks=rule)
    result = measured(server.load("echo", **SHORT))
    assert (result.planned, result.ok, result.completed, result.errors) == (4, 0, 0, {"other": 4})
    assert result.examples == {"other": BROKEN + says}
    code = {"text": 1007, "huge": 1009}.get(rule, 1002)
    # A connection may transmit several messages before it closes. If it resets, the server sees no close frame.
    seen = {name for name in server.counts() if name.startswith("close ")}
    assert seen == {f"close {code}"} or (rule == "continuation" and not seen)
    assert result.connections.reason == BROKEN + says
    assert 1 <= result.connections.lost <= 4


@pytest.mark.parametrize(
    ("dialect", "rule", "says"),
    [
        ("plain", "accept", "the answer to the handshake has the wrong Sec-WebSocket-Accept"),
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
