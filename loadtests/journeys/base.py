"""The base class of journeys: a Locust user who goes through an application step by step.

A user opens a page, reads it (the think time), fills in the form, sends it, and follows the redirect to the next page.
The user, not the HTTP client, follows redirects, so that a POST and the following page have separate times. After an
error, the user leaves. Each journey belongs to a new user, with new cookies.
"""

from __future__ import annotations

import errno
import math
import random
import select
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode, urljoin, urlsplit

import gevent
from gevent import monkey
from geventhttpclient.client import HTTPClient, HTTPClientPool
from geventhttpclient.response import HTTPConnectionClosed, HTTPParseError
from locust import FastHttpUser
from locust.contrib.fasthttp import FAILURE_EXCEPTIONS

from loadtests.journeys.forms import Credentials, sign_in
from loadtests.journeys.steps import Answered, BrokenOff, Left, Step

if TYPE_CHECKING:
    from loadtests.journeys.injector.recorder import Recorder

TIMEOUT_S = 10.0
# Like epoll, gevent waits only for whole milliseconds. It also waits one millisecond longer than requested. For this
# reason, the last millisecond of each wait is a busy wait.
TIMER_S = 0.001
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
NO_MORE_CONNECTIONS = (errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL)  # Limits of this machine, not of the server.
_poll = monkey.get_original("select", "poll")  # gevent's version of poll would switch to other users.


Check = Callable[[Answered], BrokenOff | None]
Fields = Mapping[str, str | Sequence[str]]


class _Clients(HTTPClientPool):
    """HTTP clients that send each request only once, on any number of connections.

    geventhttpclient repeats a GET if the connection closes before the answer, which would hide lost answers and use
    tokens twice. It also uses ``select``, which is limited to 1,024 files, to check whether a connection is still open.
    """

    def get_client(self, url: Any) -> HTTPClient:
        client = super().get_client(url)
        pool: Any = client._connection_pool
        pool.size = -1  # disables retries, and doesn't affect the existing connection pool
        pool._is_socket_alive = _still_open
        return client


def _still_open(connection: Any) -> bool:
    """Return whether an idle connection is still open: there is nothing to read, not even the end of the stream."""
    if connection is None or connection.fileno() < 0:
        return False
    poll = _poll()
    poll.register(connection, select.POLLIN)
    return not poll.poll(0)


class Journey(FastHttpUser):
    """The base class of users. A journey is a subclass with a method ``walk``, in a separate file.

    Attributes:
        path: The path of the application.
        think_s: The shortest and the longest think time in seconds.
        credentials: The credentials with which a user logs in before a journey.
        cookie_policy: The policy of the cookie jar.
        signed_out: The path to which the application redirects users without a session.
        observer: The recorder of all events.
        leaves_at: The time when the load ends.
    """

    abstract = True
    path = "/"
    think_s = (1.0, 2.0)
    credentials: Credentials | None = None
    cookie_policy = DefaultCookiePolicy()
    signed_out = ""
    observer: ClassVar[Recorder]
    leaves_at = math.inf
    connection_timeout = TIMEOUT_S
    network_timeout = TIMEOUT_S

    def __init__(self, environment: object) -> None:
        super().__init__(environment)
        agent = self.client.client
        agent.clientpool = _Clients(**agent.clientpool.client_args)
        self.client.cookiejar.set_policy(self.cookie_policy)
        self.chance = random.Random()
        self.ready = time.monotonic()
        self._failure: BrokenOff | None = None  # the failure of the last request

    def walk(self) -> None:
        """Run one journey with ``get``, ``post`` and ``think``. Use ``chance`` for random decisions."""
        raise NotImplementedError

    def undertake(self, chance: random.Random, due: float) -> BrokenOff | None:
        """Run one journey of a new user. The journey was due at ``due``. Return the failure that ended it, or None.

        Raises:
            Left: If the load ends before the journey ends.
            TypeError: If the journey itself raised a failure, because its request would then count as successful.
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
                raise TypeError(f"a check must return a failure, not raise it: {broken}") from broken
            failure = broken
            self.hang_up()  # the rest of an answer may still arrive
        self.observer.ended(due, self.ready, failure)
        return failure

    def hang_up(self) -> None:
        """Close the user's connections."""
        self.client.client.close()

    def think(self) -> None:
        """Wait until the user has read the page and is ready for the next step.

        Raises:
            Left: If the load ends.
        """
        begun = self.ready
        self.ready += self.chance.uniform(*self.think_s)
        self.observer.thinks(begun, self.ready)
        if self.ready >= self.leaves_at:
            raise Left
        sleep_until(self.ready)

    def get(self, path: str, route: str, status: int = 200, check: Check | None = None) -> Answered:
        """Request a page. ``route`` is the name of the page in the report.

        Raises:
            BrokenOff: If the status differs or the check fails.
            Left: If the load ends.
        """
        return self._request("GET", path, route, status, None, check)

    def post(self, path: str, route: str, fields: Fields, status: int = 302, check: Check | None = None) -> Answered:
        """Send a form. The other arguments are the same as in ``get``."""
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
                # The response time doesn't include the time to read an answer, or the work of other users in the
                # meantime.
                self.ready = step.sent + response.request_meta["response_time"] / 1000
                error = getattr(response, "error", None)
                if not response.status_code:
                    failure: BrokenOff | None = _failed(error)
                else:
                    answer = _answered(response, path)
                    failure = self._lost(answer) or _other_status(answer, status) or (check(answer) if check else None)
                response.failure(failure) if failure else response.success()
        except (*FAILURE_EXCEPTIONS, HTTPParseError) as error:  # the connection broke in the middle of the body
            self.ready = time.monotonic()
            failure = _failed(error)
        self.observer.answered(step, self.ready, failure)
        if failure is not None or answer is None:
            self._failure = failure or BrokenOff("other", "no answer")
            raise self._failure
        return answer

    def _lost(self, answer: Answered) -> BrokenOff | None:
        """Return a failure if the session was lost, or None."""
        if not self.signed_out or answer.location.partition("?")[0] != self.signed_out:
            return None
        return BrokenOff("lost-session", f"redirected to {self.signed_out}, as for a user who isn't logged in")


def sleep_until(moment: float) -> None:
    """Let other users run until ``time.monotonic`` reaches a moment."""
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
    """Convert an error of the HTTP client to a failure.

    Raises:
        RuntimeError: If this machine can't open more connections, which isn't a failure of the server.
    """
    for one in _with_causes(error):
        if isinstance(one, OSError) and one.errno in NO_MORE_CONNECTIONS:
            raise RuntimeError(f"this machine can't open more connections: {one}")
        if isinstance(one, ConnectionRefusedError):
            return BrokenOff("refused", str(one))
        if isinstance(one, (TimeoutError, gevent.Timeout)):
            return BrokenOff("timeout", f"no answer after {TIMEOUT_S:g} s")
        if isinstance(one, (ConnectionError, HTTPConnectionClosed)):
            return BrokenOff("reset", str(one))
    return BrokenOff("other", f"{type(error).__name__}: {error}")


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    while error is not None:
        yield error
        yield from (one for one in error.args if isinstance(one, BaseException))
        # geventhttpclient stores the cause of a GET's error in an attribute.
        error = getattr(error, "original", None) or error.__cause__ or error.__context__
