#!/bin/sh
# PgBouncer in front of the service postgresql, on a Unix socket in RUN_DIR. It pools by transaction: a connection
# of PostgreSQL's is a client's for a transaction, not for as long as the client stays. Otherwise as it ships (20
# connections to a database), but for the most clients, which as shipped are 100, as in PostgreSQL.
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
