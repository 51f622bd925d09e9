"""Make the Redis layer of 2016 wait for Redis, because the setup starts both at the same time."""

import time

import asgi_redis
import redis

WITHIN_S = 10.0
LOOK_EVERY_S = 0.05


class PatientRedisChannelLayer(asgi_redis.RedisChannelLayer):
    """Use asgi_redis without changes, as soon as each of its Redis servers answers.

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
    """Return whether the server answers. With `last`, raise its error instead of returning False."""
    try:
        return connection.ping()
    except redis.exceptions.ConnectionError:
        if last:
            raise
        return False
