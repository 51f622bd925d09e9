"""Test an origin over real sockets: its connections, its answers and its counts."""

import asyncio
import gzip
import json

import pytest

OK = {"body": "fine", "stages": [{"at": 0}]}


def stage(**values):
    return {"body": "fine", "stages": [{"at": 0, **values}]}


def test_reused_connections_are_counted(play):
    async def talk(origin):
        async with origin.client() as client:
            answers = [await client.ask(f"/{number}?a=b") for number in range(3)]
        await origin.ask()
        return answers, await origin.until(lambda counts: counts["connections_open"] == 0)

    answers, counts = play(OK, talk)
    assert [(status, body) for status, _, body in answers] == [(200, b"fine")] * 3
    assert all("connection" not in headers for _, headers, _ in answers)
    assert (counts["connections_opened"], counts["connections_reused"]) == (2, 2)
    assert 1 <= counts["most_connections"] <= 2
    assert (counts["total_requests"], counts["200"], counts["fates"]) == (4, 4, {"answered": 4})


def test_sent_headers_include_guessed_type(ask):
    bbc_s = {"connection": "keepalive", "cache-control": "private, max-age=0, no-cache"}  # as it documents
    recipes = [
        {"route": "/page", **stage()},
        {"route": "/json", **stage(), "body": '{"a": 1}'},
        {"route": "/error", **stage(status=503)},
        {"route": "/typed", "headers": {"Content-Type": "text/plain", "X-A": "b"}, **stage()},
        {"route": "*", "headers": bbc_s, **stage(latency="1ms", status=200)},
    ]
    answers = ask(recipes, *[(path,) for path in ("/page", "/json", "/error", "/typed", "/news")])
    page, as_json, error, typed, documented = (headers for _, headers, _ in answers)
    assert page == {"content-type": "text/html; charset=utf-8", "content-length": "4"}
    assert as_json["content-type"] == "application/json; charset=utf-8"
    assert error["content-type"] == "text/plain; charset=utf-8"
    assert typed == {"content-type": "text/plain", "content-length": "4", "x-a": "b"}
    assert (documented["cache-control"], "connection" in documented) == (bbc_s["cache-control"], False)


def test_only_requested_bodies_are_compressed(ask):
    recipes = [
        {"route": "/well", "random_content": "3kb", "headers": {"content-encoding": "gzip"}, "stages": [{"at": 0}]},
        {"route": "/ill", "headers": {"content-encoding": "gzip"}, "stages": [{"at": 0, "status": 503}]},
    ]
    (_, headers, body), (status, ill, words) = ask(recipes, ("/well",), ("/ill",))
    assert headers["content-encoding"] == "gzip"
    assert len(gzip.decompress(body)) == 3 * 1024
    assert (status, words, "content-encoding" in ill) == (503, b"Error 503", False)


def test_connection_survives_any_body_size(ask):
    recipes = [OK, {"route": "/empty", **stage(status=204)}, {"route": "/large", **OK, "body": "<<5mb>>"}]
    empty, large, posted, last = ask(recipes, ("/empty",), ("/large",), ("/", "POST", "", bytes(1_000_000)), ("/",))
    assert empty == (204, {}, b"")
    assert (large[0], len(large[2])) == (200, 5 * 1024**2)
    assert [(status, body) for status, _, body in (posted, last)] == [(200, b"fine")] * 2


def test_answer_never_precedes_its_latency(play):
    async def talk(origin):
        async with origin.client() as client:
            begun = asyncio.get_running_loop().time()
            for _ in range(5):
                await client.ask()
            took = asyncio.get_running_loop().time() - begun
        return took, await origin.counts()

    took, counts = play(stage(latency="20ms"), talk)
    assert took >= 0.098  # the event loop's clock is only accurate to a millisecond
    assert counts["late_ms"]["p50"] >= 0


def test_pipelined_requests_keep_their_order(play):
    recipes = [{"route": "/slow", **stage(latency="30ms", status=201)}, OK]

    async def talk(origin):
        async with origin.client() as client:
            for number in range(300):
                await client.send("/slow" if number == 0 else "/")
            return [(await client.receive())[0] for _ in range(300)]

    assert play(recipes, talk) == [201] + [200] * 299


def test_stalled_request_stays_in_flight(play):
    async def talk(origin):
        async with origin.client() as client:
            await client.send()
            during = await origin.until(lambda counts: counts["in_flight"] == 1)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.receive(), 0.05)
        return during, await origin.until(lambda counts: counts["in_flight"] == 0)

    during, after = play(stage(stalls=1), talk)
    assert (during["fates"], after["fates"]) == ({}, {"stalled": 1})


def test_reset_closes_connection_with_rst(play):
    async def talk(origin):
        async with origin.client() as client:
            with pytest.raises(ConnectionResetError):
                await client.ask()
        return await origin.until(lambda counts: counts["connections_open"] == 0)

    counts = play(stage(resets=1), talk)
    assert (counts["fates"], counts["in_flight"]) == ({"reset": 1}, 0)
    assert "200" not in counts


def test_disconnected_client_is_not_counted(play):
    recipe = {"limit": 1, **stage(latency="10m")}

    async def talk(origin):
        async with origin.client() as client:
            await client.send()
            await origin.until(lambda counts: counts["in_flight"] == 1)
            refused, _, words = await origin.ask()
        await origin.until(lambda counts: counts["in_flight"] == 0)
        async with origin.client() as client:
            await client.send()
            again = await origin.until(lambda counts: counts["in_flight"] == 1)
        return refused, words, again

    refused, words, again = play(recipe, talk)
    assert (refused, words) == (503, b"Error 503")
    assert again["fates"] == {"over_limit": 1, "gone": 1}


@pytest.mark.parametrize(
    ("recipe", "request_of", "body"),
    [
        ({"headers": {"connection": "close"}, **OK}, ("GET", ""), b"fine"),
        (OK, ("GET", "Connection: close\r\n"), b"fine"),
        (OK, ("HEAD", "Connection: close\r\n"), b""),
        (OK, ("GET", "Connection: Upgrade\r\nUpgrade: websocket\r\n"), b"fine"),
    ],
    ids=["the recipe", "the client", "HEAD", "an upgrade"],
)
def test_close_header_ends_the_connection(play, recipe, request_of, body):
    async def talk(origin):
        async with origin.client() as client:
            return await client.ask("/", *request_of), await client.reader.read()

    (status, headers, found), rest = play(recipe, talk)
    assert (status, headers["content-length"], headers["connection"]) == (200, "4", "close")
    assert (found, rest) == (body, b"")


@pytest.mark.parametrize(
    ("sent", "status"),
    [(b"nonsense\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000, 431), (b"GET / HTTP/9.9\r\n\r\n", 400)],
)
def test_invalid_http_is_refused(play, sent, status):
    async def talk(origin):
        async with origin.client() as client:
            client.writer.write(sent)
            return await client.receive(), await client.reader.read(), await origin.counts()

    (found, headers, _), rest, counts = play(OK, talk)
    assert (found, headers["connection"], rest) == (status, "close", b"")
    assert counts["total_requests"] == 0


def test_excess_connections_are_closed(play):
    async def talk(origin):
        async with origin.client() as first:
            await first.ask()
            async with origin.client() as second:
                assert await second.reader.read() == b""
            return json.loads((await first.ask("/_admin/current_count"))[2])

    counts = play(OK, talk, most_open=1)
    assert (counts["connections_refused"], counts["connections_opened"]) == (1, 1)
