#!/bin/sh
# Run the slow origin with BENCH_ORIGIN_RECIPE on a free port on 127.0.0.1. While it listens, RUN_DIR/origin.url
# contains its URL. If ORIGIN_URL names another origin, don't start one.

if [ -n "$ORIGIN_URL" ]; then
    echo "origin.sh: using the origin at ORIGIN_URL, so no origin is started"
    exit 0
fi

cd "$(dirname "$0")/.." || exit 1
# Use the harness's Python, because the Python of the servers or of a user's project precedes it in PATH.
python=${BENCH_PYTHON:-.venv/bin/python}
[ -x "$python" ] || python=python
unset PYTHONPATH

exec "$python" -m loadtests origin "$BENCH_ORIGIN_RECIPE" --port 0 --url-file "$RUN_DIR/origin.url"
