"""Wait for Redis before the channel layer of 2016 connects, because the setup starts Redis and Daphne together."""

import time

import asgi_redis
import redis

WITHIN_S = 10.0
LOOK_EVERY_S = 0.05


class PatientRedisChannelLayer(asgi_redis.RedisChannelLayer):
    """A layer of asgi_redis that waits until each of its Redis servers answers.

    Raises:
        redis.exceptions.ConnectionError: If a server doesn't answer within WITHIN_S.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        end = time.monotonic() + WITHIN_S
        for connection in self._connection_list:
            while not _answers(connection, last=time.monotonic() > end):
                time.sleep(LOOK_EVERY_S)


def _answers(connection, last):
    """Return whether the Redis server answers. With `last`, raise the error instead of returning False."""
    try:
        return connection.ping()
    except redis.exceptions.ConnectionError:
        if last:
            raise
        return False
