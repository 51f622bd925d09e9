#!/bin/sh
# Run a new PostgreSQL in RUN_DIR for tests that need it, on a Unix socket in that folder, without a TCP port and
# without data that outlives it. If DATABASE_URL names another server, don't start one. RUN_DIR/postgresql.url contains
# the address as soon as the server is ready.

case "$DATABASE_URL" in
    *"host=$RUN_DIR"*) ;;
    postgresql://* | postgres://*)
        umask 077
        echo "$DATABASE_URL" >"$RUN_DIR/postgresql.url"
        echo "postgresql.sh: using the PostgreSQL at DATABASE_URL, so no server is started"
        exit 0
        ;;
    *)
        echo "postgresql.sh: DATABASE_URL is not a PostgreSQL URL. Unset it, or set a PostgreSQL URL" >&2
        exit 69
        ;;
esac

# Debian's PATH doesn't contain the programs of the server.
for folder in /usr/lib/postgresql/*/bin; do
    PATH=$PATH:$folder
done
data=$RUN_DIR/postgresql
as="sh ${0%/*}/no_root.sh"
$as mkdir -m 700 "$data" || exit 1

$as initdb --pgdata "$data" --username postgres --auth trust --no-sync --encoding UTF8 --locale C >/dev/null || exit 1
printf '%s\n' 'CREATE ROLE testproject LOGIN' 'CREATE DATABASE testproject OWNER testproject' |
    $as postgres --single -D "$data" postgres >/dev/null || exit 1

$as postgres -D "$data" -c listen_addresses= -c unix_socket_directories="$RUN_DIR" -c fsync=off &
server=$!

case "$DJANGO_SETTINGS_MODULE" in
    testproject.*)
        until [ -S "$RUN_DIR/.s.PGSQL.5432" ]; do
            kill -0 "$server" || exit 1
            sleep 0.05
        done
        # Connect directly, because a pooler in front of the database may not be running yet.
        DATABASE_URL="postgresql://testproject@/testproject?host=$RUN_DIR" python manage.py prepare || exit 1
        ;;
esac
# The harness counts the connections as a superuser. PostgreSQL reserves some connections for superusers, so the harness
# can connect even if clients use all other connections.
echo "postgresql://postgres@/testproject?host=$RUN_DIR" >"$RUN_DIR/postgresql.url"
wait "$server"
