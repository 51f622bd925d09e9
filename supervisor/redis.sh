#!/bin/sh
# Run Redis for the setups that need it, on a Unix socket in RUN_DIR, without a TCP port or files. If REDIS_URL names
# another server, don't start one.

if [ -n "${REDIS_URL:-}" ]; then
    echo "redis.sh: using the Redis at REDIS_URL, so no server is started"
    exit 0
fi

# The system's redis-server takes precedence over the one that `make setup` installs next to python.
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
    echo "redis.sh: no Redis was found. Set REDIS_URL, install redis-server, or run 'make setup'" >&2
    exit 69
fi

exec "$server" --port 0 --unixsocket "$RUN_DIR/redis.sock" --unixsocketperm 700 \
    --save "" --appendonly no --dir "$RUN_DIR" --daemonize no
