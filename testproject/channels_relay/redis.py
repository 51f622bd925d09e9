"""channels_redis, without its duplicates."""

from typing import Any

from channels_redis.core import RedisChannelLayer

# Puts what a cancelled receive left in the backup back into the queue, under its old score.
RESTORE = """
local left = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
for at = 1, #left, 2 do
    redis.call('ZADD', KEYS[1], left[at + 1], left[at])
end
redis.call('DEL', KEYS[2])
"""


class ExactlyOnceRedisChannelLayer(RedisChannelLayer):
    """`RedisChannelLayer` whose every instance has its own backup of the message it is receiving.

    channels_redis 4.3.0 keeps one backup for all readers of a channel, and a reader that begins to receive
    puts back what another has just taken (github.com/django/channels_redis, issue 163). Here a reader can
    only put back its own. The commands and round trips are those of the parent class, so that its speed can
    be compared; one EXPIRE more travels along, because nobody else clears the backup of a reader that died.
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
