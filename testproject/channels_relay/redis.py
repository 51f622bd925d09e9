"""Deliver each message of channels_redis only once."""

from typing import Any

from channels_redis.core import RedisChannelLayer

# A cancelled `receive` can leave messages in the backup. Move them back to the queue, with their old scores.
RESTORE = """
local left = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
for at = 1, #left, 2 do
    redis.call('ZADD', KEYS[1], left[at + 1], left[at])
end
redis.call('DEL', KEYS[2])
"""


class ExactlyOnceRedisChannelLayer(RedisChannelLayer):
    """Give each instance of the layer a separate backup of the message that it is receiving.

    In channels_redis 4.3.0, all readers of a channel share a backup. A reader that starts to receive also puts back the
    message that another reader has just taken (github.com/django/channels_redis, issue 163). With this class, a reader
    can put back only its own message.

    To allow a comparison of speed, the commands and round trips are the same as in the parent class, except for an
    additional EXPIRE in the pipeline. The class needs EXPIRE because no other reader deletes the backup of a reader
    that died.
    """

    def _backup_channel_name(self, channel: str) -> str:
        return f"{super()._backup_channel_name(channel)}.{self.client_prefix}"

    async def _brpop_with_clean(self, index: int, channel: str, timeout: float) -> Any:
        backup = self._backup_channel_name(channel)
        connection = self.connection(index)
        await connection.eval(RESTORE, 2, channel, backup)
        popped = await connection.bzpopmin(channel, timeout=timeout)
        if popped is None:
            return None
        _, member, score = popped
        pipeline = connection.pipeline(transaction=False)
        pipeline.zadd(backup, {member: float(score)}).expire(backup, int(self.expiry))
        await pipeline.execute()
        return member
