#!/bin/sh
# The slow origin: plays BENCH_ORIGIN_RECIPE on a free port of 127.0.0.1. Its URL is in RUN_DIR/origin.url while it
# listens. Where ORIGIN_URL names another there is nothing to do.

if [ -n "$ORIGIN_URL" ]; then
    echo "origin.sh: ORIGIN_URL names the origin; none is started"
    exit 0
fi

cd "$(dirname "$0")/.." || exit 1
# The benchmark's own Python: PATH begins with that of a user's project.
python=.venv/bin/python
[ -x "$python" ] || python=python
unset PYTHONPATH

exec "$python" -m loadtests origin "$BENCH_ORIGIN_RECIPE" --port 0 --url-file "$RUN_DIR/origin.url"
