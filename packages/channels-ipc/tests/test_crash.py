"""Test that the layer works after processes are killed, and that messages arrive complete and at most once."""

import asyncio
import os
from collections import Counter

import pytest
from channels_ipc.directory import data_file, private_directory

# Repeatedly fork workers that send and receive as fast as they can, and kill them at random times. Each worker writes
# the messages that it receives to a separate file, one per line.
HAMMER = """
import random, signal
kills, workers, seed, folder = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
random.seed(seed)

async def work(name):
    log = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    rng = random.Random(name)
    mine = await layer.new_channel()
    await layer.group_add("group", mine)
    n = 0
    async def receive(channel):
        while True:
            message = await layer.receive(channel)
            assert len(message["body"]) == message["size"], "torn"
            os.write(log, (message["id"] + "\\n").encode())
    tasks = [asyncio.create_task(receive(channel)) for channel in ("work", "work", mine)]
    while True:
        n += 1
        size = rng.choice((10, 3000, 50_000, 300_000))
        message = {"id": f"{name}-{n}", "size": size, "body": bytes(size)}
        try:
            kind = rng.random()
            if kind < 0.2:
                message["id"] += "-group"
                await layer.group_send("group", message)
            else:
                await layer.send("work" if kind < 0.8 else mine, message)
        except ChannelFull:
            pass
        await asyncio.sleep(0)
        for task in tasks:
            if task.done():
                os.write(log, f"failed {task.exception()!r}\\n".encode())
                os._exit(1)

def spawn(name):
    pid = os.fork()
    if not pid:
        try:
            asyncio.run(work(name))
        except BaseException as error:
            os.write(2, f"failed {error!r}\\n".encode())
        os._exit(1)
    return pid

running = {spawn(f"w{n}") for n in range(workers)}
for n in range(workers, workers + kills):
    time.sleep(random.uniform(0, 0.02))
    victim = random.choice(sorted(running))
    os.kill(victim, signal.SIGKILL)
    _, status = os.waitpid(victim, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "a worker failed by itself"
    running.remove(victim)
    running.add(spawn(f"w{n}"))
for pid in running:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
print("done")
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_layer_works_after_processes_are_killed(start, make_layer, receive_now, tmp_path, path, seed):
    layer = make_layer()
    hammer = start(HAMMER, 100, 4, seed, tmp_path)
    assert hammer.communicate(timeout=100)[0] == "done\n"

    # The layer must work immediately, without waiting for a timeout.
    async def round_trip():
        channel = await layer.new_channel()
        await layer.send(channel, {"n": 1})
        return await receive_now(layer, channel)

    assert asyncio.run(round_trip()) == {"n": 1}

    received = Counter()
    for log in tmp_path.iterdir():
        lines = log.read_text().splitlines()
        assert not [line for line in lines if line.startswith("failed")]
        # A group message arrives at most once at each member. Other messages arrive at most once in total.
        received.update((line, log.name if line.endswith("-group") else "") for line in lines)
    assert len(received) > 100
    assert [message for message, times in received.items() if times > 1] == []

    # Receive the messages on the shared channel. The layer must remove the other entries of dead processes.
    async def drain():
        while await receive_now(layer, "work"):
            pass
        await layer.close()  # opening the directory again removes old entries
        for _ in range(200):
            await layer.send("other", {})
            await layer.receive("other")

    for unborn in path.glob("new-*"):
        os.utime(unborn, (0, 0))  # recent pipes aren't removed, because a process may still open them
    asyncio.run(drain())
    assert layer.statistics()["entries"] == 0
    assert layer.statistics()["file"] < 256 * 2**20
    assert len(list(path.glob("*ipc*"))) == 1  # the pipe of the test's process


def test_transaction_of_killed_process_is_undone(start, layer, path):
    """Check that the kernel releases the lock of a dead process, and that its transaction has no effect."""
    process = start(
        """
    import lmdb
    asyncio.run(layer.send("channel", {"n": 1}))
    asyncio.run(layer.close())
    with lmdb.open(sys.argv[1], subdir=False, map_size=2**30).begin(write=True) as txn:
        txn.put(b"half", b"done")
        print("inside", flush=True)
        time.sleep(60)
    """,
        data_file(str(private_directory(path))),
    )
    assert process.stdout.readline() == "inside\n"
    process.kill()
    process.wait()

    async def scenario():
        await layer.send("channel", {"n": 2})
        return [(await layer.receive("channel"))["n"] for _ in range(2)]

    assert asyncio.run(asyncio.wait_for(scenario(), 5)) == [1, 2]
    assert layer.statistics()["entries"] == 0


def test_processes_can_be_killed_while_opening(start, layer):
    """Kill processes while they open the directory, and while other processes open and leave it."""
    code = """
    for n in range(30):
        child = os.fork()
        if not child:
            asyncio.run(layer.send("channel", {}))
            os._exit(0)
        time.sleep(n * 0.0005)
        os.kill(child, 9)
        os.waitpid(child, 0)
    """
    processes = [start(code) for _ in range(2)]
    assert [process.wait(30) for process in processes] == [0, 0]

    async def scenario():
        await layer.flush()
        await layer.send("channel", {"n": 1})
        return await layer.receive("channel")

    assert asyncio.run(asyncio.wait_for(scenario(), 5)) == {"n": 1}
