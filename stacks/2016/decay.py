"""Measure why asgi_ipc 1.1.0 becomes slower with each answer, and how many messages it loses.

    make stack-2016-decay

asgi_ipc keeps all channels in a map in shared memory, and each operation reads or writes the whole map. Each request
uses a new channel for its answer, and the code that should delete an empty channel is never reached. For the first
table, this program sends and receives answers like Daphne and a worker, and between them measures a message on an
existing channel. This message is always the same, so its time depends only on the size of the map.

Reading the map and writing it are two steps, and each step acquires the lock separately. For the second table, a
process sends requests and another process answers them. If a process writes between the two steps of the other process,
its message is lost.

Run this program with the Python of this stack. It doesn't need a server.
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
IN_FLIGHT = (1, 10)  # 10 connections, as in the throughput test of the original
SECONDS = 5.0
LOST_AFTER_S = 2.0
PAUSE_S = 0.01  # Daphne and the worker pause for this time if there is no message
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
    """Return a layer whose shared memory has no name, so that the system frees the memory when this process ends."""
    layer = asgi_ipc.IPCChannelLayer(prefix=f"bench-decay-{os.getpid()}")
    for store in (layer.channel_store, layer.group_store):
        store.shm.unlink()
        store.semaphore.unlink()
    return layer


def answer(layer):
    """Send an answer on a new channel and receive it, as for a request."""
    channel = layer.new_channel("http.response!")
    layer.send(channel, ANSWER)
    found, _ = layer.receive_many([channel])
    if found != channel:
        raise SystemExit("asgi_ipc lost an answer that no other process could have taken")


def timed(operation):
    """Return the duration of the operation in milliseconds."""
    begun = time.perf_counter()
    operation()
    return (time.perf_counter() - begun) * 1000


def measure(layer, times):
    """Return the size of the map, and the median times to send a message, to receive it, and to do both."""
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
    """Yield the measurements for each number of remembered answers, in ascending order."""
    layer = private_layer()
    measure(layer, 1)  # create the queue's channel before the first measurement
    served = 0
    for wanted in sorted(remembered):
        while served < wanted:
            answer(layer)
            served += 1
        yield dict(answers=served, **measure(layer, times))


def losses(in_flight, seconds):
    """Count the sent, answered and lost requests between two processes, with ``in_flight`` requests at a time."""
    layer = private_layer()
    asking = os.getpid()
    worker = os.fork()
    if not worker:
        work(layer, asking)
    try:
        return ask(layer, in_flight, seconds)
    finally:
        os.kill(worker, 9)
        os.waitpid(worker, 0)


def work(layer, asking):
    """Answer requests like a worker, until the process that sends the requests ends."""
    while os.getppid() == asking:
        channel, message = layer.receive_many([QUEUE], block=True)
        if channel is None:
            time.sleep(PAUSE_S)
        else:
            layer.send(message["reply_channel"], ANSWER)
    os._exit(0)


def ask(layer, in_flight, seconds):
    """Send requests like Daphne, and count the answers."""
    sent = answered = lost = 0
    waiting = {}
    end = time.monotonic() + seconds
    while waiting or time.monotonic() < end:
        now = time.monotonic()
        gone = [channel for channel, since in waiting.items() if now - since > LOST_AFTER_S]
        lost += len(gone)
        for channel in gone:
            del waiting[channel]
        while len(waiting) < in_flight and now < end:
            channel = layer.new_channel("http.response!")
            layer.send(QUEUE, dict(REQUEST, reply_channel=channel))
            waiting[channel] = time.monotonic()
            sent += 1
        channel, _ = layer.receive_many(list(waiting))
        if channel is None:
            time.sleep(PAUSE_S)
        else:
            del waiting[channel]
            answered += 1
    return {"in_flight": in_flight, "sent": sent, "answered": answered, "lost": lost}


def about():
    """Return the versions of the measured packages and of Python."""
    return {
        "asgi_ipc": asgi_ipc.__version__,
        "msgpack-python": ".".join(map(str, msgpack.version)),
        "msgpack": "in Python" if msgpack.Packer.__module__.endswith("fallback") else "compiled",
        "python": platform.python_version(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--remembered", type=int, nargs="+", default=REMEMBERED, metavar="ANSWERS")
    parser.add_argument("--times", type=int, default=TIMES, help="measurements per operation (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="seconds per loss test (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args()
    if given.times < 1 or min(given.remembered) < 0 or not 0 < given.seconds <= 3600:
        parser.error("--times must be at least 1, --remembered at least 0, and --seconds more than 0 and at most 3600")
    rows = decay(given.remembered, given.times)
    lost = (losses(in_flight, given.seconds) for in_flight in IN_FLIGHT)
    if given.json:
        json.dump({"about": about(), "rows": list(rows), "losses": list(lost)}, sys.stdout, indent=2)
        print()
        return
    said = about()
    print(f"asgi_ipc {said['asgi_ipc']}, msgpack-python {said['msgpack-python']} ({said['msgpack']}), ", end="")
    print(f"Python {said['python']}\n")
    print(f"One process: the median time of {given.times} messages, in ms, by the number of remembered answers")
    print("answers served   channels in the map   map, KiB     send   receive   both")
    for row in rows:
        kib = row["map_bytes"] / 1024
        times = f"{row['send_ms']:8.2f} {row['receive_ms']:9.2f} {row['both_ms']:6.2f}"
        print(f"{row['answers']:14} {row['channels']:21} {kib:10.1f} {times}", flush=True)
    print(f"\nTwo processes, for {given.seconds:g} s. A request not answered after {LOST_AFTER_S:g} s counts as lost")
    print("requests at a time     sent   answered   lost")
    for row in lost:
        print(f"{row['in_flight']:18} {row['sent']:8} {row['answered']:10} {row['lost']:6}", flush=True)


if __name__ == "__main__":
    main()
