"""The server that the engines are tested against: what it does with a request is in the request's path.

It prints its port and ends when its standard input is closed. A process of its own, so that it keeps its times.
"""

import asyncio
import os
import sys
import threading
import time

FREEZE_EVERY_S, FREEZE_FOR_S = 5.0, 1.0


class Connection(asyncio.Protocol):
    requests = 0
    opened = 0

    def connection_made(self, transport):
        self.transport = transport
        Connection.opened += 1
        self.data = b""

    def data_received(self, data):
        self.data += data
        head, end, rest = self.data.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        if end and len(rest) >= length:
            self.data = b""
            self.handle(head, rest)

    def handle(self, head, body):
        self.method, path, _ = head.partition(b"\r\n")[0].split(b" ")
        _, what, *value = path.decode().split("/")
        if what == "count":
            self.answer(str(Connection.requests).encode())
            return
        if what == "opened":
            self.answer(str(Connection.opened).encode())
            return
        Connection.requests += 1
        if what == "ok":
            self.answer()
        elif what == "after":  # so many milliseconds
            asyncio.get_running_loop().call_later(int(value[0]) / 1000, self.answer)
        elif what == "status":
            self.answer(status=int(value[0]))
        elif what == "echo":
            self.answer(body)
        elif what == "asked":  # the method, and the headers that begin with an x
            lines = [line for line in head.split(b"\r\n") if line.lower().startswith(b"x-")]
            self.answer(b"\n".join([self.method, *lines]))
        elif what == "reset":
            self.transport.abort()
        elif what == "cut":  # closed within the body
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nOK")
            self.transport.close()
        elif what == "closing":  # as Gunicorn's sync worker does
            self.answer(headers=b"Connection: close\r\n")
            self.transport.close()
        elif what == "tenth" and Connection.requests % 10:  # and one in ten never answers
            self.answer()

    def answer(self, body=b"OK", status=200, headers=b""):
        head = b"HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n" % (status, headers, len(body))
        self.transport.write(head if self.method == b"HEAD" else head + body)


async def freeze():
    while True:
        await asyncio.sleep(FREEZE_EVERY_S - FREEZE_FOR_S)
        time.sleep(FREEZE_FOR_S)  # noqa: ASYNC251 (that is the point)


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    if sys.argv[1:] == ["freezing"]:
        await freeze()
    await server.serve_forever()


threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
asyncio.run(main())
