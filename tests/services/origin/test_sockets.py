"""An origin over real sockets: connections, what comes on them, and what it says that it saw."""

import asyncio
import gzip
import json

import pytest

from tests.fixtures.origins import origin

OK = {"body": "fine", "stages": [{"at": 0}]}


def stage(**values):
    return {"body": "fine", "stages": [{"at": 0, **values}]}


def test_requests_on_a_kept_connection_are_counted_as_such(play):
    async def talk(origin):
        async with origin.client() as client:
            answers = [await client.ask(f"/{number}?a=b") for number in range(3)]
        await origin.ask()
        return answers, await origin.until(lambda counts: counts["connections_open"] == 0)

    answers, counts = play(OK, talk)
    assert [(status, body) for status, _, body in answers] == [(200, b"fine")] * 3
    assert all("connection" not in headers for _, headers, _ in answers)
    assert (counts["connections_opened"], counts["connections_reused"]) == (2, 2)
    assert counts["most_connections"] <= 2
    assert (counts["total_requests"], counts["200"], counts["fates"]) == (4, 4, {"answered": 4})


def test_a_body_is_compressed_where_its_header_says_so_and_an_error_is_not(play):
    recipes = [
        {"route": "/well", "random_content": "3kb", "headers": {"content-encoding": "gzip"}, "stages": [{"at": 0}]},
        {"route": "/ill", "headers": {"content-encoding": "gzip"}, "stages": [{"at": 0, "status": 503}]},
    ]

    async def talk(origin):
        return await origin.ask("/well"), await origin.ask("/ill")

    (_, headers, body), (status, ill, words) = play(recipes, talk)
    assert headers["content-encoding"] == "gzip"
    assert len(gzip.decompress(body)) == 3 * 1024
    assert (status, words, "content-encoding" in ill) == (503, b"Error 503", False)


def test_a_head_request_has_the_length_and_no_body(play):
    async def talk(origin):
        async with origin.client() as client:
            return await client.ask("/", "HEAD"), await client.ask("/")

    (status, headers, _), (_, _, body) = play(OK, talk)
    assert (status, headers["content-length"], body) == (200, "4", b"fine")


def test_an_answer_without_a_body_leaves_the_connection_as_it_is(play):
    async def talk(origin):
        async with origin.client() as client:
            return [await client.ask() for _ in range(2)]

    for status, headers, body in play(stage(status=204), talk):
        assert (status, headers, body) == (204, {}, b"")


def test_a_large_body_arrives_whole(play):
    async def talk(origin):
        return await origin.ask()

    status, _, body = play({"random_content": "5mb", "stages": [{"at": 0}]}, talk)
    assert (status, len(body)) == (200, 5 * 1024**2)


def test_what_is_posted_is_read_and_left(play):
    async def talk(origin):
        async with origin.client() as client:
            return [await client.ask("/", "POST", body=bytes(1_000_000)) for _ in range(2)]

    assert [status for status, _, _ in play(OK, talk)] == [200, 200]


def test_a_request_is_answered_after_its_latency_and_never_before(play):
    async def talk(origin):
        async with origin.client() as client:
            begun = asyncio.get_running_loop().time()
            for _ in range(5):
                await client.ask()
            took = asyncio.get_running_loop().time() - begun
        return took, await origin.counts()

    took, counts = play(stage(latency="20ms"), talk)
    assert took >= 0.098  # the loop's own clock has whole milliseconds
    assert counts["late_ms"]["p50"] >= 0


def test_requests_that_come_before_the_answer_are_answered_in_their_order(play):
    recipes = [{"route": "/slow", **stage(latency="30ms", status=201)}, OK]

    async def talk(origin):
        async with origin.client() as client:
            for number in range(300):
                await client.send("/slow" if number == 0 else "/")
            return [(await client.receive())[0] for _ in range(300)]

    assert play(recipes, talk) == [201] + [200] * 299


def test_a_stalled_request_is_never_answered_and_counted_as_in_flight(play):
    async def talk(origin):
        async with origin.client() as client:
            await client.send()
            during = await origin.until(lambda counts: counts["in_flight"] == 1)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.receive(), 0.05)
        return during, await origin.until(lambda counts: counts["in_flight"] == 0)

    during, after = play(stage(stalls=1), talk)
    assert during["fates"] == {}
    assert after["fates"] == {"stalled": 1}


def test_a_reset_connection_is_reset(play):
    async def talk(origin):
        async with origin.client() as client:
            with pytest.raises(ConnectionResetError):
                await client.ask()
        return await origin.until(lambda counts: counts["connections_open"] == 0)

    counts = play(stage(resets=1), talk)
    assert (counts["fates"], counts["in_flight"]) == ({"reset": 1}, 0)
    assert "200" not in counts


def test_a_client_that_goes_away_is_counted_and_its_place_is_free(play):
    recipe = {"limit": 1, **stage(latency="10m")}

    async def talk(origin):
        async with origin.client() as client:
            await client.send()
            await origin.until(lambda counts: counts["in_flight"] == 1)
            refused, _, words = await origin.ask()
        counts = await origin.until(lambda counts: counts["in_flight"] == 0)
        return refused, words, counts

    refused, words, counts = play(recipe, talk)
    assert (refused, words) == (503, b"Error 503")
    assert counts["fates"] == {"over_limit": 1, "gone": 1}


def test_a_recipe_can_close_each_connection(play):
    async def talk(origin):
        async with origin.client() as client:
            _, headers, _ = await client.ask()
            return headers, await client.reader.read()

    headers, rest = play({"headers": {"connection": "close"}, **OK}, talk)
    assert (headers["connection"], rest) == ("close", b"")


def test_a_client_that_asks_for_it_is_closed(play):
    async def talk(origin):
        async with origin.client() as client:
            _, headers, _ = await client.ask(headers="Connection: close\r\n")
            return headers, await client.reader.read()

    headers, rest = play(OK, talk)
    assert (headers["connection"], rest) == ("close", b"")


@pytest.mark.parametrize(
    ("sent", "status"),
    [(b"nonsense\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000, 431), (b"GET / HTTP/9.9\r\n\r\n", 400)],
)
def test_what_is_no_http_is_refused_and_the_connection_closed(play, sent, status):
    async def talk(origin):
        async with origin.client() as client:
            client.writer.write(sent)
            return await client.receive(), await client.reader.read(), await origin.counts()

    (found, headers, _), rest, counts = play(OK, talk)
    assert (found, headers["connection"], rest) == (status, "close", b"")
    assert counts["total_requests"] == 0


def test_an_upgrade_is_answered_as_any_request(play):
    async def talk(origin):
        return await origin.ask(headers="Connection: Upgrade\r\nUpgrade: websocket\r\n")

    status, headers, body = play(OK, talk)
    assert (status, headers["connection"], body) == (200, "close", b"fine")


def test_more_connections_than_it_may_have_are_closed_at_once_and_counted(play):
    async def talk(origin):
        async with origin.client() as first:
            await first.ask()
            async with origin.client() as second:
                assert await second.reader.read() == b""
            return json.loads((await first.ask("/_admin/current_count"))[2])

    counts = play(OK, talk, most_open=1)
    assert (counts["connections_refused"], counts["connections_opened"]) == (1, 1)


def test_the_stages_are_those_of_the_time_since_it_listens(play):
    recipe = {"stages": [{"at": 0, "status": 503}, {"at": "100ms", "status": 200}]}

    async def talk(origin):
        found = []
        while not found or found[-1] != 200:
            found.append((await origin.ask())[0])
            await asyncio.sleep(0.01)
        await origin.ask("/_admin/restart", "POST")
        return found, (await origin.ask())[0]

    found, again = play(recipe, talk)
    assert set(found[:-1]) == {503}
    assert again == 503


def test_a_body_is_passed_on_from_another_address(play):
    async def talk(there):
        passes_on = {"origin": f"{there.url}/there?a=b", "stages": [{"at": 0, "status": 203}]}
        async with origin(passes_on) as here:
            answers = [await here.ask(path) for path in ("/", "/other")]
        return answers, await there.counts()

    answers, counts = play({"route": "/there", **OK}, talk)
    assert [(status, body) for status, _, body in answers] == [(203, b"fine")] * 2
    assert counts["total_requests"] == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"", "whose answer breaks off"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfine", "whose answer breaks off"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "which answers with status 404; 200 is needed"),
        (b"SSH-2.0-OpenSSH\r\n", "whose answer breaks off or is not HTTP"),
        (None, "which cannot be reached"),
    ],
)
def test_an_address_that_does_not_answer_well_is_refused(play, unused_port, answer, says):
    async def talk(origin):
        async def strange(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            writer.close()

        server = await asyncio.start_server(strange, "127.0.0.1", unused_port) if answer is not None else None
        recipe = {"origin": f"http://127.0.0.1:{unused_port}/", "stages": [{"at": 0}]}
        found = await origin.ask("/_admin/add_recipe", "POST", body=json.dumps(recipe).encode())
        if server is not None:
            server.close()
        return found

    status, _, words = play(None, talk)
    assert status == 400
    assert says in words.decode()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
def test_an_origin_does_not_fetch_from_itself(play, name):
    async def talk(origin):
        recipe = {"origin": f"http://{name}:{origin.port}/x", "stages": [{"at": 0}]}
        return await origin.ask("/_admin/add_recipe", "POST", body=json.dumps(recipe).encode())

    status, _, words = play({"stages": [{"at": 0}]}, talk)
    assert status == 400
    assert words.decode().endswith("/x, which is this origin itself; another address is needed")
