"""Test channels that several processes share."""

import asyncio
import selectors
import signal
import time
from collections import Counter

from channels.exceptions import ChannelFull

PIPE_BYTES = 65536  # the capacity of a pipe on Linux

READER = """
async def main():
    print("ready", flush=True)
    while True:
        message = await layer.receive("work")
        if message["n"] is None:
            break
        print(message["n"], flush=True)
asyncio.run(main())
"""

WRITER = """
async def main():
    first, last = map(int, sys.argv[1:])
    for n in range(first, last):
        while True:
            try:
                await layer.send("work", {"n": n, "writer": first})
                break
            except ChannelFull:
                await asyncio.sleep(0.001)
asyncio.run(main())
"""

ECHO = """
async def main():
    while True:
        message = await layer.receive("echo")
        await layer.send(message["reply"], {"n": message["n"]})
asyncio.run(main())
"""


async def send_patiently(layer, channel, message):
    while True:
        try:
            return await layer.send(channel, message)
        except ChannelFull:
            await asyncio.sleep(0.001)


def test_single_reader_receives_messages_in_order(start, layer):
    writer = start(WRITER, 0, 2000)

    async def read():
        return [(await asyncio.wait_for(layer.receive("work"), 20))["n"] for _ in range(2000)]

    assert asyncio.run(read()) == list(range(2000))
    assert writer.wait(10) == 0


def test_concurrent_readers_receive_each_message_once(start, make_layer):
    layer = make_layer()
    readers = [start(READER) for _ in range(3)]
    for reader in readers:
        assert reader.stdout.readline() == "ready\n"
    writers = [start(WRITER, first, first + 500) for first in (0, 500)]
    for writer in writers:
        assert writer.wait(30) == 0

    async def finish():
        for _ in readers:
            await send_patiently(layer, "work", {"n": None})

    asyncio.run(finish())
    received = [[int(line) for line in reader.communicate(timeout=30)[0].split()] for reader in readers]
    assert Counter(n for each in received for n in each) == Counter(range(1000))
    assert layer.statistics()["entries"] == 0


def test_idle_readers_take_turns(start, make_layer):
    layer = make_layer()
    readers = [start(READER) for _ in range(3)]
    for reader in readers:
        assert reader.stdout.readline() == "ready\n"
    takers = []
    while set(takers) != set(readers):
        assert len(takers) < 30
        waiting(layer, 3)
        asyncio.run(layer.send("work", {"n": len(takers)}))
        takers.append(one_that_printed(readers))
        assert takers[-1].stdout.readline() == f"{len(takers) - 1}\n"


def one_that_printed(processes):
    """Wait until a process prints something, and return the process. The caller can read the output."""
    with selectors.DefaultSelector() as outputs:
        for process in processes:
            outputs.register(process.stdout, selectors.EVENT_READ, process)
        return outputs.select(10)[0][0].data


def waiting(layer, count):
    """Wait until ``count`` readers wait in other processes. The store must not contain other entries."""
    end = time.monotonic() + 60
    while layer.statistics()["entries"] != count:
        assert time.monotonic() < end, "too few readers wait"
        time.sleep(0.02)


async def test_replies_arrive_at_their_reply_channels(start, make_layer):
    layer = make_layer()
    start(ECHO)
    start(ECHO)

    async def ask(n):
        reply = await layer.new_channel()
        await layer.send("echo", {"n": n, "reply": reply})
        return (await asyncio.wait_for(layer.receive(reply), 20))["n"]

    answers = []
    for batch in range(20):
        answers += await asyncio.gather(*(ask(n) for n in range(batch * 50, batch * 50 + 50)))
    assert answers == list(range(1000))


def test_messages_survive_the_sender(start, layer):
    assert start('asyncio.run(layer.send("channel", {"n": 1}))').wait(10) == 0
    assert asyncio.run(layer.receive("channel")) == {"n": 1}


def test_processes_share_the_capacity(start, layer):
    code = """
    sent = 0
    try:
        while True:
            asyncio.run(layer.send("channel", {}))
            sent += 1
    except ChannelFull:
        print(sent)
    """
    first = start(code, capacity=3).communicate(timeout=10)[0]
    second = start(code, capacity=3).communicate(timeout=10)[0]
    assert (first, second) == ("3\n", "0\n")


def test_group_reaches_several_processes(start, make_layer):
    layer = make_layer()
    member = """
    async def main():
        channel = await layer.new_channel()
        await layer.group_add("group", channel)
        print("joined", flush=True)
        print((await layer.receive(channel))["text"], flush=True)
    asyncio.run(main())
    """
    members = [start(member) for _ in range(3)]
    for process in members:
        assert process.stdout.readline() == "joined\n"
    asyncio.run(layer.group_send("group", {"text": "hello"}))
    assert [process.communicate(timeout=10)[0] for process in members] == ["hello\n"] * 3


def test_flush_affects_all_processes(start, layer):
    process = start("""
    async def main():
        await layer.send("channel", {})
        print("sent", flush=True)
        sys.stdin.readline()
        try:
            await asyncio.wait_for(layer.receive("channel"), 0.1)
        except asyncio.TimeoutError:
            print("nothing")
    asyncio.run(main())
    """)
    assert process.stdout.readline() == "sent\n"
    asyncio.run(layer.flush())
    assert process.communicate("\n", timeout=10)[0] == "nothing\n"


async def test_live_reader_replaces_killed_reader(start, make_layer):
    layer = make_layer()
    dead, alive = start(READER), start(READER)
    for reader in (dead, alive):
        assert reader.stdout.readline() == "ready\n"
    waiting(layer, 2)
    dead.kill()
    dead.wait()
    for n in (1, 2, 3, None):
        await layer.send("work", {"n": n})
    assert alive.communicate(timeout=10)[0].split() == ["1", "2", "3"]


def test_lost_wakeup_is_repeated(start, make_layer):
    """Stop a reader, wake it with a message, and kill it before it receives the message.

    The other reader must receive the message, because readers also check their channels regularly.
    """
    layer = make_layer()
    first = start(READER)
    assert first.stdout.readline() == "ready\n"
    waiting(layer, 1)
    first.send_signal(signal.SIGSTOP)
    second = start(READER)
    assert second.stdout.readline() == "ready\n"
    waiting(layer, 2)
    asyncio.run(layer.send("work", {"n": 7}))  # wakes the first reader, which has waited longer
    first.kill()
    assert second.stdout.readline() == "7\n"


def test_entries_of_dead_processes_are_removed(start, make_layer, path):
    """Check the removal of memberships, messages, waiters and doorbells."""
    layer = make_layer(capacity=1000)
    process = start("""
    async def main():
        waiting = asyncio.create_task(layer.receive("work"))
        await asyncio.sleep(0)
        channel = await layer.new_channel()
        for n in range(50):
            await layer.group_add(f"group{n}", await layer.new_channel())
            await layer.send(channel, {"n": n})
        print(channel, flush=True)
        await waiting
    asyncio.run(main())
    """)
    channel = process.stdout.readline().strip()
    assert layer.statistics()["entries"] == 102  # 50 memberships, 50 messages, their counter and a waiter
    process.kill()
    process.wait()

    async def scenario():
        await layer.send(channel, {"n": "too late"})
        await layer.group_send("group0", {})
        await layer.close()  # opening the directory again removes old entries
        for _ in range(200):
            await layer.send("other", {})
        await layer.send("other", {})
        for _ in range(201):
            await layer.receive("other")

    asyncio.run(scenario())
    assert layer.statistics()["entries"] == 0
    assert len(list(path.glob("ipc*"))) == 1  # the pipe of the test's process


def test_full_doorbell_loses_no_messages(start, make_layer):
    """Stop a reader while 3,000 rings arrive, so that its doorbell loses some rings. All messages must arrive."""
    layer = make_layer(capacity=3000)
    process = start("""
    async def main():
        names = [await layer.new_channel() for _ in range(3000)]
        waiting = [asyncio.create_task(layer.receive(name)) for name in names]
        await asyncio.sleep(0)
        print(*names, flush=True)
        print(len(await asyncio.gather(*waiting)), flush=True)
    asyncio.run(main())
    """)
    names = process.stdout.readline().split()
    rings = "".join(f" {name}\n" for name in names)
    assert len(rings) > PIPE_BYTES
    process.send_signal(signal.SIGSTOP)

    async def scenario():
        for name in names:
            await layer.send(name, {})

    asyncio.run(scenario())
    process.send_signal(signal.SIGCONT)
    assert process.communicate(timeout=20)[0] == "3000\n"


def test_idle_reader_sleeps(start):
    """Check how often an idle reader wakes up. The reader only needs to check its channels once per second."""
    process = start("""
    import resource
    async def main():
        waiting = [asyncio.create_task(layer.receive(f"channel{n}")) for n in range(10)]
        await asyncio.sleep(0)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
        await asyncio.sleep(0.5)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before, flush=True)
        os._exit(0)
    asyncio.run(main())
    """)
    times_asleep = int(process.communicate(timeout=20)[0])
    assert 0 < times_asleep < 10
