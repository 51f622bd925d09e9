"""Test group messages between processes. Each process with members of the group receives one parcel."""

import asyncio
import signal

import pytest

# This program adds new channels to a group, prints their names, and receives on all of them after a line on stdin.
MEMBERS = """
count = int(sys.argv[1])
async def main():
    names = [await layer.new_channel() for _ in range(count)]
    for name in names:
        await layer.group_add("group", name)
    print(*names, flush=True)
    sys.stdin.readline()
    for name in names:
        received = []
        try:
            while True:
                received.append((await asyncio.wait_for(layer.receive(name), 0.05))["n"])
        except asyncio.TimeoutError:
            print(*received, flush=True)
asyncio.run(main())
"""


@pytest.fixture
def members(start):
    """Return a function that starts a process with members of the group and returns the process and its channels."""

    def begin(count, **options):
        process = start(MEMBERS, count, **options)
        return process, process.stdout.readline().split()

    return begin


def received(process):
    return process.communicate("\n", timeout=20)[0].splitlines()


async def send_numbers(layer, first, last):
    for n in range(first, last):
        await layer.group_send("group", {"n": n})


def test_members_of_process_share_a_parcel(members, layer):
    process, names = members(50)
    asyncio.run(layer.group_send("group", {"n": 1}))
    assert layer.statistics()["entries"] == len(names) + 3  # members, a parcel, its payload and its reference count
    assert received(process) == ["1"] * 50


def test_processes_share_a_payload(members, layer):
    processes = [members(10)[0] for _ in range(3)]
    asyncio.run(layer.group_send("group", {"n": 1, "body": bytes(100_000)}))
    assert layer.statistics()["used"] < 150_000
    for process in processes:
        assert received(process) == ["1"] * 10


def test_group_and_direct_messages_keep_order(members, make_layer):
    layer = make_layer()
    process, (name,) = members(1)

    async def send():
        for n in range(0, 9, 3):
            await layer.send(name, {"n": n})
            await send_numbers(layer, n + 1, n + 3)

    asyncio.run(send())
    assert received(process) == ["0 1 2 3 4 5 6 7 8"]


def test_parcels_respect_capacity(members, layer):
    process, names = members(5)
    asyncio.run(send_numbers(layer, 0, 10))
    assert layer.statistics()["entries"] == len(names) + 3 * 3
    assert received(process) == ["0 1 2"] * 5


def test_direct_messages_count_towards_capacity(members, layer):
    process, (name, _) = members(2)

    async def send():
        await layer.send(name, {"n": 0})
        await send_numbers(layer, 1, 4)

    asyncio.run(send())
    assert received(process) == ["0 1 2", "1 2 3"]


def test_new_members_miss_earlier_messages(members, layer):
    first, _ = members(1)
    asyncio.run(send_numbers(layer, 0, 1))
    second, _ = members(1)
    asyncio.run(send_numbers(layer, 1, 2))
    assert (received(first), received(second)) == (["0 1"], ["1"])


def test_discarded_members_keep_earlier_messages(members, layer):
    process, (name,) = members(1)

    async def send():
        await send_numbers(layer, 0, 1)
        await layer.group_discard("group", name)
        await send_numbers(layer, 1, 2)

    asyncio.run(send())
    assert received(process) == ["0"]


def test_expired_parcels_are_dropped(members, make_layer):
    process, _ = members(2)
    asyncio.run(send_numbers(make_layer(expiry=0), 0, 2))
    asyncio.run(send_numbers(make_layer(), 2, 3))
    assert received(process) == ["2", "2"]


def test_flush_empties_inboxes(start, layer):
    process = start("""
    async def main():
        name = await layer.new_channel()
        await layer.group_add("group", name)
        await layer.group_send("group", {"n": 1})
        print("sent", flush=True)
        sys.stdin.readline()
        try:
            print(await asyncio.wait_for(layer.receive(name), 0.1))
        except asyncio.TimeoutError:
            print("nothing")
    asyncio.run(main())
    """)
    assert process.stdout.readline() == "sent\n"
    asyncio.run(layer.flush())
    assert process.communicate("\n", timeout=20)[0] == "nothing\n"


def test_parcels_of_killed_processes_are_removed(members, layer):
    process, names = members(2)
    asyncio.run(send_numbers(layer, 0, 2))
    process.kill()
    process.wait()

    async def tidy():
        for name in names:
            await layer.group_discard("group", name)
        await layer.close()  # opening the directory again removes old entries
        await layer.send("other", {})
        await layer.receive("other")

    asyncio.run(tidy())
    assert layer.statistics()["entries"] == 0


def test_resumed_process_receives_messages(members, make_layer):
    layer = make_layer()
    process, _ = members(3)
    process.send_signal(signal.SIGSTOP)
    asyncio.run(send_numbers(layer, 0, 20))
    process.send_signal(signal.SIGCONT)
    assert received(process) == [" ".join(map(str, range(20)))] * 3


async def test_prefix_receives_group_messages_in_order(layer):
    names = [await layer.new_channel() for _ in range(2)]
    for name in names:
        await layer.group_add("group", name)
    await layer.send(names[1], {"n": 0})
    await layer.group_send("group", {"n": 1})
    prefix = names[0][: names[0].index("!") + 1]
    found = [await layer.receive(prefix) for _ in range(3)]
    assert [message["n"] for message in found] == [0, 1, 1]
    assert {message["__asgi_channel__"] for message in found} == set(names)


async def test_unread_inboxes_expire(make_layer, nothing_comes):
    layer, brief = make_layer(), make_layer(expiry=0.001)
    name = await layer.new_channel()
    await layer.group_add("group", name)
    await brief.group_send("group", {"n": 1})
    await asyncio.sleep(0.002)
    await nothing_comes(layer, name)
    await layer.group_send("group", {"n": 2})
    assert await layer.receive(name) == {"n": 2}
