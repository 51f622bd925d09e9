#!/bin/sh
# PostgreSQL for a test that asks for it: a new one in RUN_DIR, on a Unix socket there, with no TCP port and nothing that
# outlives it. Where DATABASE_URL names another, none is started. RUN_DIR/postgresql.url has the address once it can be used.

case "$DATABASE_URL" in
    *"host=$RUN_DIR"*) ;;
    postgresql://* | postgres://*)
        umask 077
        echo "$DATABASE_URL" >"$RUN_DIR/postgresql.url"
        echo "postgresql.sh: using the PostgreSQL of DATABASE_URL, starting none"
        exit 0
        ;;
    *)
        echo "postgresql.sh: DATABASE_URL names no PostgreSQL; leave it out, or name one" >&2
        exit 69
        ;;
esac

# Debian keeps the programs of a server out of PATH.
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
        # Whatever is between it and the servers need not be up yet.
        DATABASE_URL="postgresql://testproject@/testproject?host=$RUN_DIR" python manage.py prepare || exit 1
        ;;
esac
# Who counts the connections is a superuser: some are reserved for those, so that they come in when all others are taken.
echo "postgresql://postgres@/testproject?host=$RUN_DIR" >"$RUN_DIR/postgresql.url"
wait "$server"
