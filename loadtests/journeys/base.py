"""What all journeys have in common: a Locust user, who goes through an application step by step.

A user gets a page, reads it (thinks), fills in its form, sends it and is led on to the next. The user, not the client,
follows redirects, so that a POST and the page that it leads to have times of their own. After an error the user leaves,
and is a new person with new cookies the next time."""

from __future__ import annotations

import dataclasses
import errno
import math
import random
import select
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import gevent
from gevent import monkey
from geventhttpclient.client import HTTPClient, HTTPClientPool
from geventhttpclient.response import HTTPConnectionClosed, HTTPParseError
from locust import FastHttpUser
from locust.contrib.fasthttp import FAILURE_EXCEPTIONS

from loadtests.journeys.forms import Credentials, sign_in
from loadtests.journeys.steps import BrokenOff, Left, Observer, Step

TIMEOUT_S = 10.0
# gevent waits whole milliseconds, as epoll does, one too many. The last of them is spent looking at the clock.
TIMER_S = 0.001
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
NO_MORE_CONNECTIONS = (errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL)  # of this machine, whatever the server does
_poll = monkey.get_original("select", "poll")  # that of gevent would let others run


@dataclasses.dataclass(frozen=True)
class Answered:
    """An answer: status, body as text, and the path that it redirects to, or an empty one."""

    status: int
    text: str
    location: str


Check = Callable[[Answered], BrokenOff | None]
Fields = Mapping[str, str | Sequence[str]]


class _Clients(HTTPClientPool):
    """Clients that send each request once, on any number of connections.

    geventhttpclient repeats a GET whose connection closes before the answer, which would hide lost answers and use
    tokens twice. And it looks with ``select``, which is limited to 1,024 files, whether a connection is still open.
    """

    def get_client(self, url: Any) -> HTTPClient:
        client = super().get_client(url)
        pool: Any = client._connection_pool
        pool.size = -1  # read for nothing else once the pool is made
        pool._is_socket_alive = _still_open
        return client


def _still_open(connection: Any) -> bool:
    """Whether an idle connection is open: nothing has come, not even its end."""
    if connection is None or connection.fileno() < 0:
        return False
    poll = _poll()
    poll.register(connection, select.POLLIN)
    return not poll.poll(0)


class Journey(FastHttpUser):
    """A user, and what it does. A journey is a subclass with ``walk``, in a file of its own.

    ``path`` is where the application begins, ``think_s`` the least and the most seconds that a user thinks.
    ``credentials`` are for signing in before a journey; ``signed_out`` is the path to which the application redirects
    those without a session. ``observer`` takes all events; at ``leaves_at`` the time is over."""

    abstract = True
    path = "/"
    think_s = (1.0, 2.0)
    credentials: Credentials | None = None
    signed_out = ""
    observer = Observer()
    leaves_at = math.inf
    connection_timeout = TIMEOUT_S
    network_timeout = TIMEOUT_S

    def __init__(self, environment: object) -> None:
        super().__init__(environment)
        agent = self.client.client
        agent.clientpool = _Clients(**agent.clientpool.client_args)
        self.chance = random.Random()
        self.ready = time.monotonic()
        self._failure: BrokenOff | None = None  # the last one that a request had

    def walk(self) -> None:
        """One journey, with ``get``, ``post`` and ``think``; what is left to chance is drawn from ``chance``."""
        raise NotImplementedError

    def undertake(self, chance: random.Random, due: float) -> BrokenOff | None:
        """One journey of a new person, which was due at ``due``; returns why it was broken off, if it was.

        Raises Left where the time is over before its end, and TypeError where the journey itself raised a failure: the
        request that it is about would count as answered well.
        """
        self.chance, self.ready = chance, due
        self.client.cookiejar.clear()
        self.observer.begins(due)
        failure: BrokenOff | None = None
        try:
            if self.credentials is not None:
                sign_in(self, self.credentials)
            self.walk()
        except BrokenOff as broken:
            if broken is not self._failure:
                raise TypeError(f"a failure is to be returned from a check, not raised: {broken}") from broken
            failure = broken
            self.hang_up()  # the rest of an answer may still come
        self.observer.ended(due, self.ready, failure)
        return failure

    def hang_up(self) -> None:
        """Closes the user's connections."""
        self.client.client.close()

    def think(self) -> None:
        """The user reads, and is ready for the next step when that is done. Raises Left."""
        begun = self.ready
        self.ready += self.chance.uniform(*self.think_s)
        self.observer.thinks(begun, self.ready)
        if self.ready >= self.leaves_at:
            raise Left
        sleep_until(self.ready)

    def get(self, path: str, route: str, status: int = 200, check: Check | None = None) -> Answered:
        """Gets a page; ``route`` is its name in the report. Raises BrokenOff where the status is another or the check
        fails, and Left."""
        return self._request("GET", path, route, status, None, check)

    def post(self, path: str, route: str, fields: Fields, status: int = 302, check: Check | None = None) -> Answered:
        """Sends a form; otherwise as ``get``."""
        return self._request("POST", path, route, status, urlencode(fields, doseq=True), check)

    def _request(
        self, method: str, path: str, route: str, status: int, form: str | None, check: Check | None
    ) -> Answered:
        if self.ready >= self.leaves_at:
            raise Left
        step = Step(route, method, self.ready, time.monotonic())
        self.observer.sent(step)
        answer: Answered | None = None
        try:
            with self.client.request(
                method,
                path,
                name=route,
                data=form,
                headers={} if form is None else dict(FORM),
                catch_response=True,
                allow_redirects=False,
            ) as response:
                # Reading an answer, and what other users do meanwhile, does not count.
                self.ready = step.sent + response.request_meta["response_time"] / 1000
                error = getattr(response, "error", None)
                if not response.status_code:
                    failure: BrokenOff | None = _failed(error)
                else:
                    answer = _answered(response, path)
                    failure = self._lost(answer) or _other_status(answer, status) or (check(answer) if check else None)
                response.failure(failure) if failure else response.success()
        except (*FAILURE_EXCEPTIONS, HTTPParseError) as error:  # it broke off within the body
            self.ready = time.monotonic()
            failure = _failed(error)
        self.observer.answered(step, self.ready, failure)
        if failure is not None or answer is None:
            self._failure = failure or BrokenOff("other", "no answer")
            raise self._failure
        return answer

    def _lost(self, answer: Answered) -> BrokenOff | None:
        """The failure that the session is gone."""
        if not self.signed_out or answer.location.partition("?")[0] != self.signed_out:
            return None
        return BrokenOff("lost-session", f"led to {self.signed_out}, as somebody who is not signed in")


def sleep_until(moment: float) -> None:
    """Lets other users run until a moment of ``time.monotonic``."""
    while (left := moment - time.monotonic()) > 0:
        gevent.sleep(left - TIMER_S if left > TIMER_S else 0)


def _answered(response: object, path: str) -> Answered:
    headers = response.headers or {}  # type: ignore[attr-defined]
    content: bytes = response.content or b""  # type: ignore[attr-defined]
    location = headers.get("location", "")
    target = urlsplit(urljoin(path, location)) if location else None
    where = "" if target is None else target.path + (f"?{target.query}" if target.query else "")
    return Answered(response.status_code, content.decode(errors="replace"), where)  # type: ignore[attr-defined]


def _other_status(answer: Answered, status: int) -> BrokenOff | None:
    if answer.status == status:
        return None
    where = f" to {answer.location.partition('?')[0]}" if answer.location else ""
    return BrokenOff("status", f"{answer.status}{where} instead of {status}")


def _failed(error: BaseException | None) -> BrokenOff:
    """The failure for an error of the client. Raises RuntimeError where this machine has no more connections, which is
    no failure of the server."""
    for one in _with_causes(error):
        if isinstance(one, OSError) and one.errno in NO_MORE_CONNECTIONS:
            raise RuntimeError(f"no more connections can be opened from here: {one}")
        if isinstance(one, ConnectionRefusedError):
            return BrokenOff("refused", str(one))
        if isinstance(one, (TimeoutError, gevent.Timeout)):
            return BrokenOff("timeout", f"no answer after {TIMEOUT_S:g} s")
        if isinstance(one, (ConnectionError, HTTPConnectionClosed)):
            return BrokenOff("reset", str(one))
    return BrokenOff("other", f"{type(error).__name__}: {error}")


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its causes."""
    while error is not None:
        yield error
        yield from (one for one in error.args if isinstance(one, BaseException))
        # geventhttpclient keeps the cause of a GET's error in an attribute.
        error = getattr(error, "original", None) or error.__cause__ or error.__context__
