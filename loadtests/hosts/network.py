"""Check the identity of another machine, and measure the round trip and the bandwidth of the network."""

from __future__ import annotations

import dataclasses
import hmac
import http.client
import secrets
import statistics
import time
from collections.abc import Callable

from loadtests.errors import UserError, shown

REACHED_WITHIN_S = 5.0
MAX_BYTES = 2**26  # the maximum length of an answer: four times the long answer of proof.py
ROUND_TRIPS = 40
PORTS = 40  # the number of consecutive ports that a run may use


@dataclasses.dataclass(frozen=True)
class Network:
    """The median round trip to a minimal server, and the bandwidth measured with a long answer."""

    round_trip_ms: float
    megabits_per_s: float


Look = Callable[[str, tuple[str, int], str, str], Network]
"""A function like ``look``, which may run on another machine."""


def look(host: str, address: tuple[str, int], token: str, client: str) -> Network:
    """Measure the network to an address.

    The server at the address (``loadtests.hosts.proof``) must prove that it knows the token.

    Args:
        host: The user's name for the host.
        address: The address and port.
        token: The host's token, with which the server proves its identity.
        client: This machine's address, as seen by the host, or empty if SSH doesn't show it.

    Raises:
        UserError: If the address can't be reached, or belongs to another host.
    """
    where = "{}:{}".format(*address)
    nonce = secrets.token_hex(16)
    connection = http.client.HTTPConnection(*address, timeout=REACHED_WITHIN_S)
    try:
        if _get(connection, f"/{nonce}") != proof(token, nonce):
            raise UserError(f"{where} belongs to a different host than {host}")
        trips = [_seconds(connection, f"/{nonce}")[0] for _ in range(ROUND_TRIPS)]
        seconds, count = _seconds(connection, "/long")
    except (OSError, http.client.HTTPException) as error:
        port, why = address[1], shown(str(error)) or type(error).__name__
        if not client:
            raise UserError(f"{where} can't be reached from that machine ({why})") from None
        raise UserError(
            f"{where} can't be reached from this machine ({why}), although SSH works. Allow TCP from {client} to "
            f"that port and the following ports in the firewall or the cloud's security group (on that machine: "
            f"sudo ufw allow proto tcp from {client} to any port {port}:{port + PORTS})"
        ) from None
    finally:
        connection.close()
    return Network(round(statistics.median(trips) * 1000, 4), round(count * 8 / seconds / 1e6, 1))


def proof(token: str, nonce: str) -> bytes:
    """Return the keyed hash of a nonce. Only a process with the token can compute it (RFC 2104)."""
    return hmac.new(token.encode(), nonce.encode(), "sha256").hexdigest().encode()


def _get(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    with connection.getresponse() as answer:
        return answer.read(MAX_BYTES)


def _seconds(connection: http.client.HTTPConnection, path: str) -> tuple[float, int]:
    """Request a path. Return the response time in seconds, and the size of the answer in bytes."""
    begun = time.perf_counter()
    body = _get(connection, path)
    return time.perf_counter() - begun, len(body)
