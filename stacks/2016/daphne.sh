#!/bin/sh
# Daphne as in 2016, on loopback and nowhere else: daphne.sh MODULE:LAYER. By itself it writes a line for each request;
# with STACK_SETTINGS=today none, as the servers of today's stack.
set -eu
verbosity=1
if [ "${STACK_SETTINGS:-original}" = today ]; then
    verbosity=0
fi
exec "$(dirname "$0")/.venv/bin/daphne" --verbosity "$verbosity" --bind 127.0.0.1 --port "$BENCH_PORT" "$1"
