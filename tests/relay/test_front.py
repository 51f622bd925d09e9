"""Test the front. The test simulates the workers."""

import asyncio

import pytest
from channels_relay.messages import CHUNK, REQUESTS, body_channel

from tests.relay.conftest import Client

HEAD = {"status": 201, "headers": [[b"x-a", b"1"]]}


def part(request, number, body, more_body=False, **kwargs):
    head = HEAD if number == 0 else None
    sent = {"id": request["id"], "number": number, "head": head, "body": body, "more_body": more_body, "broken": False}
    return {**sent, **kwargs}


async def answer(bench, request, body):
    await bench.layer.send(request["reply_channel"], part(request, 0, body))


async def test_answers_reach_the_right_front(bench):
    fronts = [bench.front(), bench.front()]
    pairs = [await bench.request_of(fronts[number % 2], path=f"/{number}") for number in range(20)]
    assert len({request["id"] for request, _ in pairs}) == 20
    assert len({request["reply_channel"] for request, _ in pairs}) == 2
    for request, _ in reversed(pairs):
        await answer(bench, request, request["scope"]["path"].encode())
    for number, (_, client) in enumerate(pairs):
        await client.done
        assert client.body == f"/{number}".encode()


async def test_request_omits_server_state(bench):
    request, client = await bench.request_of(bench.front(), path="/é", query_string=b"a=1")
    assert (request["scope"]["path"], request["scope"]["query_string"]) == ("/é", b"a=1")
    assert "state" not in request["scope"]
    for number in (1, 0, 1, 0, 3, 2):
        body = b"%d" % number
        await bench.layer.send(request["reply_channel"], part(request, number, body, more_body=number < 3))
    await client.done
    assert (client.status, client.body, client.complete) == (201, b"0123", True)


async def test_large_body_is_sent_in_parts(bench):
    body = bytes(range(256)) * 4096 * 4
    request, client = await bench.request_of(bench.front(), body=body)
    received = [request["body"]]
    more_body = True
    while more_body:
        message = await bench.next_message(body_channel(request["id"]))
        received.append(message["body"])
        more_body = message["more_body"]
    assert b"".join(received) == body
    assert {len(piece) for piece in received} == {CHUNK}
    await answer(bench, request, b"")
    await client.done


@pytest.mark.parametrize("headers", [[], [(b"content-length", b"11")]], ids=["counted", "declared"])
async def test_body_over_limit_gets_413(bench, headers):
    client = Client(bench.front(body_limit=10), body=bytes(11), chunk=4, headers=headers)
    await client.done
    assert client.status == 413
    assert await bench.is_empty(REQUESTS)
    assert bool(client.unread) == bool(headers)  # if the declared length exceeds the limit, the body isn't read


async def test_body_at_limit_is_accepted(bench):
    request, _ = await bench.request_of(bench.front(body_limit=10), body=bytes(10))
    assert request["body"] == bytes(10)


@pytest.mark.parametrize("bench", [{"capacity": 1}], indirect=True)
async def test_full_queue_gets_503(bench):
    front = bench.front(timeout=3600)
    waiting = Client(front)
    refused = Client(front)
    await refused.done
    assert refused.status == 503
    assert not waiting.done.done()


async def test_unreachable_layer_gets_503(bench):
    bench.layer.send_failures.append(ConnectionError("down"))
    client = Client(bench.front())
    await client.done
    assert client.status == 503
    assert await bench.is_empty(REQUESTS)  # a request is never sent again


async def test_late_answer_gets_504(bench):
    front = bench.front(timeout=0.05)
    workers = await bench.join_workers()
    request, client = await bench.request_of(front)
    await client.done
    assert client.status == 504
    assert (await bench.next_message(workers))["id"] == request["id"]
    await answer(bench, request, b"late")
    assert await bench.is_empty(request["reply_channel"])
    assert len(client.sent) == 2

    other, client = await bench.request_of(front)
    await answer(bench, other, b"in time")
    await client.done
    assert client.body == b"in time"


@pytest.mark.parametrize(
    ("second", "says"),
    [({"number": 2, "body": b"x"}, "part 1 never arrived"), ({"number": 1, "body": b"", "broken": True}, "failed")],
    ids=["a gap", "broken"],
)
async def test_incomplete_answer_is_cut_short(bench, caplog, second, says):
    request, client = await bench.request_of(bench.front(timeout=0.05))
    for sent in ({"number": 0, "body": b"x"}, second):
        await bench.layer.send(request["reply_channel"], part(request, **sent, more_body=True))
    await client.done
    assert client.body == b"x"
    assert not client.complete  # an incomplete answer makes the server close the connection
    assert says in caplog.text


async def test_workers_learn_of_disconnected_clients(bench):
    workers = await bench.join_workers()
    request, client = await bench.request_of(bench.front())
    client.leaves.set()
    await client.done
    assert client.sent == []
    assert (await bench.next_message(workers))["id"] == request["id"]


async def test_incomplete_body_is_discarded(bench):
    client = Client(bench.front(), body=bytes(20), chunk=10)
    client.unread.pop()
    client.leaves.set()
    await client.done
    assert await bench.is_empty(REQUESTS)


async def test_other_protocols_are_refused(bench):
    client = Client(bench.front(), type="websocket")
    with pytest.raises(ValueError, match="supports only HTTP, not websocket"):
        await client.done


async def test_finished_requests_leave_no_tasks(bench):
    front = bench.front()
    tasks = len(asyncio.all_tasks())
    for _ in range(50):
        request, client = await bench.request_of(front)
        await answer(bench, request, b"ok")
        await client.done
    assert await bench.is_empty(REQUESTS)
    assert len(asyncio.all_tasks()) <= tasks + 1  # one task reads the replies
    assert front._replies._inboxes == {}
