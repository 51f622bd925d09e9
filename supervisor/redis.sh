#!/bin/sh
# Redis for the setups that need one, on a Unix socket in RUN_DIR: no TCP port, nothing on disk.
# Not started where REDIS_URL names another. On a machine of its own, where it is for servers on another one, it listens
# on BENCH_BIND and BENCH_PORT, and wants PASSWORD_OF_SERVICE.

if [ -n "${REDIS_URL:-}" ]; then
    echo "redis.sh: using the Redis of REDIS_URL, starting none"
    exit 0
fi

# The system's redis-server goes before the one that `make setup` put next to python.
venv=$(dirname "$(command -v python)")
server=$venv/redis-server
IFS=:
for directory in $PATH; do
    if [ "$directory" != "$venv" ] && [ -x "$directory/redis-server" ]; then
        server=$directory/redis-server
        break
    fi
done
if ! [ -x "$server" ]; then
    echo "redis.sh: no Redis: set REDIS_URL, or install redis-server, or run 'make setup'" >&2
    exit 69
fi

if [ -n "${PASSWORD_OF_SERVICE:-}" ]; then
    # All users can see the options of a command, but not its standard input. With the password nobody must be able to
    # write outside RUN_DIR, or make it follow another Redis.
    exec "$server" - <<CONFIG
bind $BENCH_BIND
port $BENCH_PORT
requirepass $PASSWORD_OF_SERVICE
rename-command CONFIG ""
rename-command MODULE ""
rename-command REPLICAOF ""
rename-command SLAVEOF ""
save ""
appendonly no
dir $RUN_DIR
daemonize no
CONFIG
fi

exec "$server" --port 0 --unixsocket "$RUN_DIR/redis.sock" --unixsocketperm 700 \
    --save "" --appendonly no --dir "$RUN_DIR" --daemonize no
