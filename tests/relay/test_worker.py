"""Test the worker. The test simulates the front."""

import asyncio
import time

import pytest
from channels.exceptions import ChannelFull
from channels_relay.messages import CHUNK, REQUESTS, WORKERS, body_channel


def request(reply_channel, id="r1", **kwargs):
    scope = {"type": "http", "path": "/", **kwargs.pop("scope", {})}
    whole = {"deadline": time.time() + 60, "scope": scope, "body": b"", "more_body": False}
    return {"id": id, "reply_channel": reply_channel, **whole, **kwargs}


async def read_body(receive):
    body, more_body = b"", True
    while more_body:
        message = await receive()
        body, more_body = body + message["body"], message["more_body"]
    return body


async def echo(scope, receive, send):
    body = await read_body(receive)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def ask(bench, message):
    await bench.layer.send(REQUESTS, message)
    return await bench.next_message(message["reply_channel"])


async def ask_for(bench, *ids):
    """Send a request for the path ``/id`` with each id. Return the channel that receives the answers."""
    replies = await bench.replies()
    for id in ids:
        await bench.layer.send(REQUESTS, request(replies, id=id, scope={"path": f"/{id}"}))
    return replies


class Held:
    """An application that records the paths of its requests, and answers when the test allows it."""

    def __init__(self):
        self.handled, self.begun, self.go_on = [], asyncio.Event(), asyncio.Event()

    async def __call__(self, scope, receive, send):
        self.handled.append(scope["path"])
        self.begun.set()
        await self.go_on.wait()
        await echo(scope, receive, send)


async def test_a_small_answer_is_one_message(bench):
    bench.start(echo)
    reply = await ask(bench, request(await bench.replies(), body=b"hello"))
    whole = {"number": 0, "head": {"status": 200, "headers": []}, "body": b"hello", "more_body": False, "broken": False}
    assert reply == {"id": "r1", **whole}


async def test_large_answer_has_numbered_parts(bench):
    body = bytes(range(256)) * 5000
    bench.start(echo)
    replies = await bench.replies()
    rest = body_channel("r1")
    await bench.layer.send(REQUESTS, request(replies, body=body[:CHUNK], more_body=True))
    # Parts may arrive in the wrong order if the clock was set back between them.
    await bench.layer.send(rest, {"number": 1, "body": body[2 * CHUNK :], "more_body": False})
    await bench.layer.send(rest, {"number": 0, "body": body[CHUNK : 2 * CHUNK], "more_body": True})
    parts = [await bench.next_message(replies) for _ in range(3)]
    assert [part["number"] for part in parts] == [0, 1, 2]
    assert [part["head"] is not None for part in parts] == [True, False, False]
    assert [part["more_body"] for part in parts] == [True, True, False]
    assert b"".join(part["body"] for part in parts) == body
    assert max(len(part["body"]) for part in parts) == CHUNK


async def test_expired_request_is_not_handled(bench):
    bench.start(echo)
    replies = await bench.replies()
    await bench.layer.send(REQUESTS, request(replies, id="old", deadline=time.time() - 1))
    assert (await ask(bench, request(replies, id="new")))["id"] == "new"


async def test_work_of_disconnected_client_is_skipped(bench):
    bench.start(held := Held())
    assert await bench.is_empty(REQUESTS)  # now the worker has joined its group
    replies = await ask_for(bench, "first", "left", "last")
    await held.begun.wait()
    await bench.layer.group_send(WORKERS, {"id": "left"})
    assert await bench.is_empty("nothing")  # now the worker has received the message
    assert held.handled == ["/first"]
    held.go_on.set()
    assert [(await bench.next_message(replies))["id"] for _ in range(2)] == ["first", "last"]
    assert held.handled == ["/first", "/last"]


async def test_running_application_learns_of_disconnection(bench):
    heard = asyncio.Event()

    async def application(scope, receive, send):
        await read_body(receive)
        if scope["path"] == "/gone":
            assert await receive() == {"type": "http.disconnect"}
            heard.set()
        await echo(scope, lambda: asyncio.sleep(0, {"body": b"", "more_body": False}), send)

    bench.start(application)
    replies = await ask_for(bench, "gone")
    assert await bench.is_empty("nothing")
    await bench.layer.group_send(WORKERS, {"id": "gone"})
    await asyncio.wait_for(heard.wait(), 5)
    assert (await ask(bench, request(replies, id="next")))["id"] == "next"  # "gone" sent nothing


async def raise_at_once(scope, receive, send):
    raise LookupError("at once")


async def return_nothing(scope, receive, send):
    pass


@pytest.mark.parametrize("application", [raise_at_once, return_nothing])
async def test_missing_answer_becomes_500(bench, application):
    async def either(scope, receive, send):
        await (application if scope["path"] == "/bad" else echo)(scope, receive, send)

    bench.start(either)
    replies = await bench.replies()
    assert (await ask(bench, request(replies, scope={"path": "/bad"})))["head"]["status"] == 500
    assert (await ask(bench, request(replies)))["head"]["status"] == 200


async def test_failure_during_answer_is_sent(bench):
    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        raise LookupError("in the middle")

    bench.start(application)
    replies = await bench.replies()
    await bench.layer.send(REQUESTS, request(replies))
    assert [(await bench.next_message(replies))["broken"] for _ in range(2)] == [False, True]


async def test_part_waits_for_channel_capacity(bench):
    bench.start(echo)
    await bench.layer.send(REQUESTS, request(replies := await bench.replies(), body=b"x"))
    bench.layer.send_failures.extend([ChannelFull(), ConnectionError("restarting"), ChannelFull()])
    assert (await bench.next_message(replies))["body"] == b"x"


@pytest.mark.parametrize("bench", [{"timeout": 0.02}], indirect=True)
async def test_blocked_answer_times_out(bench):
    bench.start(echo)
    replies = await ask_for(bench, "first", "second")
    bench.layer.send_failures.extend([ChannelFull()] * 3)  # pauses of 5, 10 and 20 ms, together longer than the timeout
    assert (await bench.next_message(replies))["id"] == "second"


async def test_worker_survives_layer_errors(bench, caplog):
    bench.layer.receive_failures.extend([ConnectionError("down"), ConnectionError("still down")])
    bench.start(echo)
    assert (await ask(bench, request(await bench.replies())))["id"] == "r1"
    assert "still down" in caplog.text


async def test_stop_finishes_only_current_request(bench):
    worker, task = bench.start(held := Held())
    replies = await ask_for(bench, "in hand", "queued")
    await held.begun.wait()
    worker.stop()
    held.go_on.set()
    await asyncio.wait_for(task, 5)
    assert (await bench.next_message(replies))["id"] == "in hand"
    assert (await bench.next_message(REQUESTS))["id"] == "queued"  # for another worker


async def test_stop_ends_an_idle_worker(bench):
    worker, task = bench.start(echo)
    assert await bench.is_empty(REQUESTS)  # now the worker waits for a request
    worker.stop()
    await asyncio.wait_for(task, 5)
    assert bench.layer.groups == {}
