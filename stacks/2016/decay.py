"""How asgi_ipc 1.1.0 grows slower with every answer: time per operation against what its map holds.

    make stack-2016-decay

It keeps all channels in one map, in shared memory, and reads or writes all of it in each operation. A request gets a
channel of its own for the answer, and the code that should drop an empty one is never reached. So here answers are
sent and received as Daphne and a worker do it, and in between one message is timed on a channel that is there already:
that operation is the same each time, and only the map is another.

Run by the Python of this stack, in one process: nobody competes for the lock, so what is seen is the least.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time

import asgi_ipc
import msgpack

REMEMBERED = (0, 50, 100, 200, 400, 800, 1600)
TIMES = 15
QUEUE = "http.request"
REQUEST = {
    "reply_channel": "http.response!aaaaaaaaaaaa",
    "http_version": "1.1",
    "method": "GET",
    "path": "/",
    "root_path": "",
    "scheme": "http",
    "query_string": b"",
    "headers": [[b"host", b"127.0.0.1:8000"], [b"connection", b"keep-alive"]],
    "body": b"",
    "client": ["127.0.0.1", 40000],
    "server": ["127.0.0.1", 8000],
}
ANSWER = {
    "status": 200,
    "headers": [[b"Content-Type", b"text/html; charset=utf-8"], [b"X-Frame-Options", b"SAMEORIGIN"]],
    "content": b"OK",
    "more_content": False,
}


def private_layer():
    """A layer in shared memory that has no name any more, so that it goes with this process, however that ends."""
    layer = asgi_ipc.IPCChannelLayer(prefix=f"bench-decay-{os.getpid()}")
    for store in (layer.channel_store, layer.group_store):
        store.shm.unlink()
        store.semaphore.unlink()
    return layer


def answer(layer):
    """What is done to the layer for the answer to one request."""
    channel = layer.new_channel("http.response!")
    layer.send(channel, ANSWER)
    found, _ = layer.receive_many([channel])
    if found != channel:
        raise SystemExit("asgi_ipc lost an answer that nobody else could have taken")


def timed(operation):
    """Milliseconds that it takes."""
    begun = time.perf_counter()
    operation()
    return (time.perf_counter() - begun) * 1000


def measure(layer, times):
    """The medians of ``times`` messages: milliseconds to send one, to receive one, and to do both."""
    pairs = [
        (timed(lambda: layer.send(QUEUE, REQUEST)), timed(lambda: layer.receive_many([QUEUE]))) for _ in range(times)
    ]
    return {
        "channels": len(layer.channel_store),
        "map_bytes": len(msgpack.packb(dict(layer.channel_store.items()), use_bin_type=True)),
        "send_ms": round(statistics.median(send for send, _ in pairs), 3),
        "receive_ms": round(statistics.median(receive for _, receive in pairs), 3),
        "both_ms": round(statistics.median(map(sum, pairs)), 3),
    }


def decay(remembered, times):
    """A row for each number of answers remembered, from the smallest on."""
    layer = private_layer()
    measure(layer, 1)  # the queue's own channel is there from now on
    served = 0
    for wanted in sorted(remembered):
        while served < wanted:
            answer(layer)
            served += 1
        yield dict(answers=served, **measure(layer, times))


def about():
    """What was measured, and with what."""
    return {
        "asgi_ipc": asgi_ipc.__version__,
        "msgpack-python": ".".join(map(str, msgpack.version)),
        "msgpack": "in Python" if msgpack.Packer.__module__.endswith("fallback") else "compiled",
        "python": platform.python_version(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--remembered", type=int, nargs="+", default=REMEMBERED, metavar="ANSWERS")
    parser.add_argument("--times", type=int, default=TIMES, help="how often each is timed (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    if given.times < 1 or min(given.remembered) < 0:
        parser.error("--times takes 1 or more, --remembered 0 or more")
    if given.json:
        json.dump({"about": about(), "rows": list(decay(given.remembered, given.times))}, sys.stdout, indent=2)
        print()
        return
    said = about()
    print(f"asgi_ipc {said['asgi_ipc']}, msgpack-python {said['msgpack-python']} ({said['msgpack']}), ", end="")
    print(f"Python {said['python']}; the median of {given.times} messages, in one process, milliseconds")
    print()
    print("answers served   channels in the map   map, KiB     send   receive   both")
    for row in decay(given.remembered, given.times):
        kib = row["map_bytes"] / 1024
        times = f"{row['send_ms']:8.2f} {row['receive_ms']:9.2f} {row['both_ms']:6.2f}"
        print(f"{row['answers']:14} {row['channels']:21} {kib:10.1f} {times}", flush=True)


if __name__ == "__main__":
    main()
