"""The Redis layer of 2016, made to wait for its Redis: both are started at the same moment here."""

import time

import asgi_redis
import redis

WITHIN_S = 10.0
LOOK_EVERY_S = 0.05


class PatientRedisChannelLayer(asgi_redis.RedisChannelLayer):
    """asgi_redis as it is, once each of its Redis servers answers. Raises what the client raises where one does not
    within WITHIN_S."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        end = time.monotonic() + WITHIN_S
        for connection in self._connection_list:
            while not _answers(connection, last=time.monotonic() > end):
                time.sleep(LOOK_EVERY_S)


def _answers(connection, last):
    """Whether it answers; the last time, its error is raised."""
    try:
        return connection.ping()
    except redis.exceptions.ConnectionError:
        if last:
            raise
        return False
