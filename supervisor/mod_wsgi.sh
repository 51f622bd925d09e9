#!/bin/sh
# Run Apache with mod_wsgi in daemon mode on BENCH_BIND and BENCH_PORT, with all its files in RUN_DIR.
set -eu

folder=$RUN_DIR/mod_wsgi
mkdir -p "$folder"

# mod_wsgi-express doesn't have options for these settings.
cat > "$folder/more.conf" <<CONF
# %2F in a path is passed to the application.
AllowEncodedSlashes On
MaxKeepAliveRequests 0
# A thousand clients with a fixed number of processes, because a run counts the end of a process as a failure.
ServerLimit 4
StartServers 4
ThreadLimit 250
ThreadsPerChild 250
MaxRequestWorkers 1000
MinSpareThreads 25
MaxSpareThreads 1000
CONF

# Apache refuses to serve as root, so root becomes nobody. As under the other servers, this user can still read and
# write the project's files, its database and RUN_DIR.
become=
[ "$(id -u)" != 0 ] || become="setpriv --reuid=65534 --regid=65534 --clear-groups
    --inh-caps=+dac_override --ambient-caps=+dac_override --bounding-set=-all,+dac_override"

# shellcheck disable=SC2086  # a list of words
exec $become mod_wsgi-express start-server "${WSGI_APP%%:*}" --application-type module \
    --callable-object "${WSGI_APP#*:}" --host "$BENCH_BIND" --port "$BENCH_PORT" --working-directory "$APP_DIR" \
    --server-root "$folder" --log-to-terminal --locale C.UTF-8 --processes "$BENCH_WORKERS" --threads "$BENCH_THREADS" \
    --server-backlog "$BENCH_BACKLOG" --daemon-backlog "$BENCH_BACKLOG" --keep-alive-timeout "$BENCH_KEEP_ALIVE" \
    --limit-request-body 0 --chunked-request --map-head-to-get Off --disable-reloading --shutdown-timeout 3 \
    --include-file "$folder/more.conf"
