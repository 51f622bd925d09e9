# The knobs of the setups, with their defaults. Source this file in a POSIX shell in the project's root:
#
#     . supervisor/defaults.sh
#     supervisord -c supervisor/supervisord.conf
#     supervisorctl -c supervisor/supervisord.conf start 'daphne-ipc:*'
#
# Existing variables keep their values. The prefix separates them from the variables of a served project, which can also
# have a PORT or WORKERS. The harness accepts the same knobs without the prefix.

if ! [ -f supervisor/supervisord.conf ]; then
    echo "defaults.sh: source this file in the project's root, the directory that contains supervisor/" >&2
    return 1 2>/dev/null || exit 1
fi

export BENCH_WORKERS="${BENCH_WORKERS:-1}"  # processes that run Django
export BENCH_THREADS="${BENCH_THREADS:-1}"  # threads in each process, if the server has a thread pool
export BENCH_BIND="${BENCH_BIND:-127.0.0.1}"
export BENCH_PORT="${BENCH_PORT:-8000}"

# Settings of all servers that support them (docs/setups.rst lists the exceptions). BACKLOG: the number of connections
# that the kernel keeps until the server accepts them. Some servers fail if it exceeds the kernel's limit. KEEP_ALIVE:
# the seconds that an idle connection stays open. The default is Daphne's fixed value.
most=$(cat /proc/sys/net/core/somaxconn 2>/dev/null || echo 128)
export BENCH_BACKLOG="${BENCH_BACKLOG:-$((most < 2048 ? most : 2048))}"
export BENCH_KEEP_ALIVE="${BENCH_KEEP_ALIVE:-60}"
if [ "$BENCH_KEEP_ALIVE" -lt 1 ] || [ "$BENCH_KEEP_ALIVE" -gt 60 ] || [ "$BENCH_BACKLOG" -lt 128 ]; then
    echo "defaults.sh: all servers accept a BENCH_KEEP_ALIVE of 1 to 60 and a BENCH_BACKLOG of 128 or more" >&2
    return 1 2>/dev/null || exit 1
fi

# The number of requests after which a worker is replaced, and the maximum random number that is added to it. Empty
# means never. For the setups with max-requests in `renews=`.
export BENCH_MAX_REQUESTS="${BENCH_MAX_REQUESTS:-}"
export BENCH_MAX_REQUESTS_JITTER="${BENCH_MAX_REQUESTS_JITTER:-}"

# The HTTP parser of servers with two parsers: `python` or `compiled`. By default, Uvicorn's parser is compiled, and
# Gunicorn's isn't, because its compiled parser (gunicorn_h1c) is published only as source code. For the setups with
# parser in `offers=`.
export BENCH_UVICORN_PARSER=httptools BENCH_GUNICORN_PARSER=python
if [ "${BENCH_HTTP_PARSER:-}" = python ]; then BENCH_UVICORN_PARSER=h11; fi
if [ "${BENCH_HTTP_PARSER:-}" = compiled ]; then BENCH_GUNICORN_PARSER=fast; fi

# The number of connections, including idle connections, that a worker of Granian accepts at the same time. Empty means
# Granian's default: its backlog divided by the workers. For the setups with backpressure in `offers=`.
export BENCH_BACKPRESSURE="${BENCH_BACKPRESSURE:-}"

# LIFESPAN=on: the servers run the lifespan protocol of the ASGI application, which fails without it.
export BENCH_LIFESPAN="${BENCH_LIFESPAN:-off}" BENCH_GRANIAN_ASGI=asginl
if [ "$BENCH_LIFESPAN" = on ]; then BENCH_GRANIAN_ASGI=asgi; fi

# Each connection is an open file. By default, many shells limit a process to 1024 open files, but let it raise this
# limit. Only the load generator raises the limit itself.
most=$(ulimit -H -n)
if [ "$most" = unlimited ] || [ "$most" -gt 65536 ]; then
    most=65536
fi
files=$(ulimit -S -n)
if [ "$files" != unlimited ] && [ "$files" -lt "$most" ]; then
    ulimit -S -n "$most"
fi

# The recipe of the service `origin`: a name in loadtests/services/origin/recipes, or the absolute path of a file.
export BENCH_ORIGIN_RECIPE="${BENCH_ORIGIN_RECIPE:-slow}"

# The served project: the working directory of the servers, the two entry points and the settings. The setups with a
# channel layer always serve the sample project.
export APP_DIR="${APP_DIR:-$PWD/testproject}"
export WSGI_APP="${WSGI_APP:-testproject.wsgi:application}"
export ASGI_APP="${ASGI_APP:-testproject.asgi:application}"
export DJANGO_SETTINGS_MODULE="${DJANGO_SETTINGS_MODULE:-testproject.settings.base}"

# The CPUs for the processes of a setup, in the format of taskset. By default, all CPUs of this shell.
if [ -z "${BENCH_CORES:-}" ]; then
    BENCH_CORES=$(taskset -cp $$ | sed 's/.*: //')
fi
export BENCH_CORES

# The CPUs for its services, in the same format.
export BENCH_SERVICES_CORES="${BENCH_SERVICES_CORES:-$BENCH_CORES}"

# The folder for sockets, logs and process ids, in memory if possible, and private to this user. Its path must be short,
# because the path of a Unix socket may have at most 107 bytes.
if [ -z "${RUN_DIR:-}" ]; then
    for RUN_DIR in "${XDG_RUNTIME_DIR:-}" /dev/shm /tmp; do
        [ -d "$RUN_DIR" ] && [ -w "$RUN_DIR" ] && break
    done
    RUN_DIR=$RUN_DIR/django-serving-$(id -u)
fi
[ -d "$RUN_DIR" ] || mkdir -m 700 "$RUN_DIR" || return 1 2>/dev/null || exit 1
if [ -L "$RUN_DIR" ] || ! [ -O "$RUN_DIR" ]; then
    echo "defaults.sh: $RUN_DIR belongs to another user; set RUN_DIR to a directory that you own" >&2
    return 1 2>/dev/null || exit 1
fi
export RUN_DIR

export IPC_DIR="${IPC_DIR:-$RUN_DIR/ipc}"  # the files of the IPC channel layer

# TLS=1: the setups with `tls` in `offers=` answer over TLS with a new certificate for BIND. Only clients that receive
# the certificate trust it. It uses ECDSA, the default of Let's Encrypt.
export BENCH_TLS="${BENCH_TLS:-}" BENCH_TLS_CERTIFICATE="" BENCH_TLS_KEY=""
if [ -n "$BENCH_TLS" ]; then
    BENCH_TLS_CERTIFICATE=$RUN_DIR/tls.crt BENCH_TLS_KEY=$RUN_DIR/tls.key
    if ! [ -f "$BENCH_TLS_CERTIFICATE" ]; then
        names=DNS:localhost
        for address in 127.0.0.1 "$BENCH_BIND" $([ "$BENCH_BIND" != 0.0.0.0 ] || hostname -I); do
            names=$names,IP:$address
        done
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=localhost \
            -addext "subjectAltName=$names" -keyout "$BENCH_TLS_KEY" -out "$BENCH_TLS_CERTIFICATE" \
            2>"$RUN_DIR/openssl.log" || {
            echo "defaults.sh: openssl can't create a certificate: $(tail -n 1 "$RUN_DIR/openssl.log")" >&2
            return 1 2>/dev/null || exit 1
        }
    fi
fi

# The harness sets BENCH_PYTHON and PATH, in which the servers of a user's project come first.
case "${BENCH_PYTHON:-}:$PATH:" in
    /* | *":$PWD/.venv/bin:"*) ;;
    *) export PATH="$PWD/.venv/bin:$PATH" ;;
esac
