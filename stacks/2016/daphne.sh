#!/bin/sh
# Run Daphne as in 2016, only on the loopback interface: daphne.sh MODULE:LAYER. By default, Daphne logs each request.
# With STACK_SETTINGS=today, it doesn't, like the servers in today's setups.
set -eu
verbosity=1
if [ "${STACK_SETTINGS:-original}" = today ]; then
    verbosity=0
fi
exec "$(dirname "$0")/.venv/bin/daphne" --verbosity "$verbosity" --bind 127.0.0.1 --port "$BENCH_PORT" "$1"
