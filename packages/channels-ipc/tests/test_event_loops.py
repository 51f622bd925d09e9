"""Test a layer with threads, several event loops and forks, all of which Django projects use."""

import asyncio
import os
import threading

import pytest
from asgiref.sync import async_to_sync


def test_calls_can_use_separate_event_loops(layer):
    channel = async_to_sync(layer.new_channel)()
    for n in range(3):
        async_to_sync(layer.send)(channel, {"n": n})
    assert [async_to_sync(layer.receive)(channel)["n"] for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("local", [True, False])
def test_threads_wake_waiting_threads(layer, local):
    channel = async_to_sync(layer.new_channel)() if local else "channel"
    received = []

    def read():
        for _ in range(200):
            received.append(asyncio.run(asyncio.wait_for(layer.receive(channel), 20))["n"])

    reader = threading.Thread(target=read)
    reader.start()

    async def write():
        for n in range(200):
            while True:
                try:
                    await layer.send(channel, {"n": n})
                    break
                except layer.ChannelFull:
                    await asyncio.sleep(0.001)

    asyncio.run(write())
    reader.join(30)
    assert received == list(range(200))


def test_many_threads_share_a_channel(make_layer):
    layer = make_layer(capacity=10_000)
    received = []

    def write(first):
        for n in range(first, first + 250):
            asyncio.run(layer.send("channel", {"n": n}))

    def read():
        async def all_of_them():
            for _ in range(250):
                received.append((await asyncio.wait_for(layer.receive("channel"), 30))["n"])

        asyncio.run(all_of_them())

    threads = [threading.Thread(target=write, args=(n * 250,)) for n in range(4)]
    threads += [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(received) == list(range(1000))


async def test_layers_with_same_path_share_messages(make_layer, path, soon):
    one, two = make_layer(), make_layer(path=str(path) + "/../layer")
    waiting = asyncio.create_task(two.receive("channel"))
    await asyncio.sleep(0)
    await one.send("channel", {"n": 1})
    assert await soon(waiting) == {"n": 1}
    await one.close()
    await two.send("channel", {"n": 2})
    assert await two.receive("channel") == {"n": 2}


async def test_layers_with_different_paths_are_separate(make_layer, path, nothing_comes):
    one, two = make_layer(), make_layer(path=path.with_name("second"))
    await one.send("channel", {})
    await nothing_comes(two, "channel")


def test_wakeup_skips_closed_event_loop(layer, soon):
    loop = asyncio.new_event_loop()
    abandoned = loop.create_task(layer.receive("channel"))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()

    async def scenario():
        waiting = asyncio.create_task(layer.receive("channel"))
        await asyncio.sleep(0)
        await layer.send("channel", {"n": 1})
        return await soon(waiting)

    assert asyncio.run(scenario()) == {"n": 1}
    abandoned._log_destroy_pending = False


def test_forked_child_has_separate_channels(start):
    process = start("""
    channel = asyncio.run(layer.new_channel())
    asyncio.run(layer.send("channel", {"n": 1}))
    child = os.fork()
    if not child:
        assert asyncio.run(layer.receive("channel")) == {"n": 1}
        assert asyncio.run(layer.new_channel()).partition("!")[0] != channel.partition("!")[0]
        try:
            asyncio.run(layer.receive(channel))
        except ValueError:
            asyncio.run(layer.send(channel, {"n": 2}))
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert asyncio.run(layer.receive(channel)) == {"n": 2}
    print("well")
    """)
    assert process.communicate(timeout=20)[0] == "well\n"


def test_process_can_fork_while_threads_send(start):
    process = start("""
    import threading
    stop = False
    def traffic(name):
        async def main():
            while not stop:
                await layer.send(name, {})
                await layer.receive(name)
        asyncio.run(main())
    threads = [threading.Thread(target=traffic, args=(f"channel{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        child = os.fork()
        if not child:
            asyncio.run(layer.send("from.child", {}))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        asyncio.run(layer.receive("from.child"))
    stop = True
    for thread in threads:
        thread.join()
    print("well")
    """)
    assert process.communicate(timeout=60)[0] == "well\n"


def test_child_closes_doorbell_of_parent(start, layer, path):
    process = start("""
    asyncio.run(layer.new_channel())
    if not os.fork():
        print("child", flush=True)
        sys.stdin.readline()
        os._exit(0)
    time.sleep(60)
    """)
    assert process.stdout.readline() == "child\n"
    (bell,) = path.glob("ipc*")
    process.kill()
    process.wait()
    with pytest.raises(OSError, match="No such device"):
        os.open(bell, os.O_WRONLY | os.O_NONBLOCK)


LOOP_ECHO = """
async def main():
    asyncio.create_task(serve())
    for n in range(200):
        reply = await layer.new_channel()
        await layer.send("echo", {"n": n, "reply": reply})
        assert (await layer.receive(reply))["n"] == n
    print(type(asyncio.get_running_loop()).__module__)
async def serve():
    while True:
        message = await layer.receive("echo")
        await layer.send(message["reply"], {"n": message["n"]})
"""


def test_layer_works_with_uvloop(start):
    pytest.importorskip("uvloop")
    process = start(LOOP_ECHO + "\nimport uvloop; uvloop.run(main())")
    assert process.communicate(timeout=20)[0] == "uvloop\n"


def test_layer_works_with_twisted(start):
    pytest.importorskip("twisted")
    process = start(
        LOOP_ECHO
        + """
from twisted.internet import asyncioreactor
loop = asyncio.new_event_loop()
asyncioreactor.install(loop)
from twisted.internet import reactor
from twisted.internet.defer import Deferred
async def run():
    await main()
reactor.callWhenRunning(
    lambda: Deferred.fromFuture(loop.create_task(run())).addBoth(lambda _: reactor.stop())
)
reactor.run()
"""
    )
    assert process.communicate(timeout=20)[0].startswith("asyncio")
