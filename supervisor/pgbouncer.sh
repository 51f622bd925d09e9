#!/bin/sh
# Run PgBouncer in front of the service postgresql, on a Unix socket in RUN_DIR. It pools by transaction: a client uses
# a PostgreSQL connection only during a transaction. The other settings are defaults (20 connections to a database),
# except the maximum number of clients. Its default is 100, as in PostgreSQL.
set -eu

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
cat >"$RUN_DIR/pgbouncer.ini" <<INI
[databases]
testproject = host=$RUN_DIR user=testproject

[pgbouncer]
listen_addr =
unix_socket_dir = $RUN_DIR
auth_type = any
pool_mode = transaction
max_client_conn = 1000
log_connections = 0
log_disconnections = 0
INI

exec sh "${0%/*}/no_root.sh" pgbouncer "$RUN_DIR/pgbouncer.ini"
