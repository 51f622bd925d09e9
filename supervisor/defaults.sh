# The knobs of the setups, with their defaults. To be sourced by a POSIX shell in the project's root:
#
#     . supervisor/defaults.sh
#     supervisord -c supervisor/supervisord.conf
#     supervisorctl -c supervisor/supervisord.conf start 'daphne-ipc:*'
#
# Variables that are set already keep their values. Their prefix keeps them apart from the variables of a served project,
# which may have a PORT or WORKERS of its own. The harness takes the same knobs without the prefix.

if ! [ -f supervisor/supervisord.conf ]; then
    echo "defaults.sh: source it in the project's root, the directory that holds supervisor/" >&2
    return 1 2>/dev/null || exit 1
fi

export BENCH_WORKERS="${BENCH_WORKERS:-1}"  # processes that run Django
export BENCH_THREADS="${BENCH_THREADS:-1}"  # threads in each, where the server has a pool of them
export BENCH_BIND="${BENCH_BIND:-127.0.0.1}"
export BENCH_PORT="${BENCH_PORT:-8000}"

# Settings of every server that has them (docs/setups.rst has the exceptions). BACKLOG: connections that the kernel
# holds until the server accepts them; more than the kernel allows is an error to some. KEEP_ALIVE: seconds that an idle
# connection stays open; Daphne's fixed value.
most=$(cat /proc/sys/net/core/somaxconn 2>/dev/null || echo 128)
export BENCH_BACKLOG="${BENCH_BACKLOG:-$((most < 2048 ? most : 2048))}"
export BENCH_KEEP_ALIVE="${BENCH_KEEP_ALIVE:-60}"
if [ "$BENCH_KEEP_ALIVE" -lt 1 ] || [ "$BENCH_KEEP_ALIVE" -gt 60 ] || [ "$BENCH_BACKLOG" -lt 128 ]; then
    echo "defaults.sh: BENCH_KEEP_ALIVE may be 1 to 60 and BENCH_BACKLOG 128 or more: what all servers accept" >&2
    return 1 2>/dev/null || exit 1
fi

# After how many requests a worker is replaced, and up to how many more, at random; empty: never. For the setups with
# max-requests in `renews=`.
export BENCH_MAX_REQUESTS="${BENCH_MAX_REQUESTS:-}"
export BENCH_MAX_REQUESTS_JITTER="${BENCH_MAX_REQUESTS_JITTER:-}"

# The HTTP parser of the servers that offer two: `python` or `compiled`. By default Uvicorn's is compiled and Gunicorn's
# isn't, because its compiled one (gunicorn_h1c) is published as source code only. For the setups with parser in `offers=`.
export BENCH_UVICORN_PARSER=httptools BENCH_GUNICORN_PARSER=python
if [ "${BENCH_HTTP_PARSER:-}" = python ]; then BENCH_UVICORN_PARSER=h11; fi
if [ "${BENCH_HTTP_PARSER:-}" = compiled ]; then BENCH_GUNICORN_PARSER=fast; fi

# A connection is an open file. Many shells allow 1024 by default and far more on request, which only the load generator
# makes by itself.
most=$(ulimit -H -n)
if [ "$most" = unlimited ] || [ "$most" -gt 65536 ]; then
    most=65536
fi
files=$(ulimit -S -n)
if [ "$files" != unlimited ] && [ "$files" -lt "$most" ]; then
    ulimit -S -n "$most"
fi

# What the service `origin` plays: the name of a recipe (loadtests/services/origin/recipes), or a file's absolute path.
export BENCH_ORIGIN_RECIPE="${BENCH_ORIGIN_RECIPE:-slow}"

# What is served: the directory that the servers run in, the two entry points, and the settings. The setups with a
# channel layer serve the sample project whatever these say.
export APP_DIR="${APP_DIR:-$PWD/testproject}"
export WSGI_APP="${WSGI_APP:-testproject.wsgi:application}"
export ASGI_APP="${ASGI_APP:-testproject.asgi:application}"
export DJANGO_SETTINGS_MODULE="${DJANGO_SETTINGS_MODULE:-testproject.settings.base}"

# CPUs for the processes of a setup, as taskset lists them: all that this shell may use.
if [ -z "${BENCH_CORES:-}" ]; then
    BENCH_CORES=$(taskset -cp $$ | sed 's/.*: //')
fi
export BENCH_CORES

# CPUs for its services, likewise.
export BENCH_SERVICES_CORES="${BENCH_SERVICES_CORES:-$BENCH_CORES}"

# Sockets, logs, process ids: a directory in memory where there is one, private to this user. Its path must be
# short, because that of a Unix socket may have 107 bytes.
if [ -z "${RUN_DIR:-}" ]; then
    for RUN_DIR in "${XDG_RUNTIME_DIR:-}" /dev/shm /tmp; do
        [ -d "$RUN_DIR" ] && [ -w "$RUN_DIR" ] && break
    done
    RUN_DIR=$RUN_DIR/django-serving-$(id -u)
fi
[ -d "$RUN_DIR" ] || mkdir -m 700 "$RUN_DIR" || return 1 2>/dev/null || exit 1
if [ -L "$RUN_DIR" ] || ! [ -O "$RUN_DIR" ]; then
    echo "defaults.sh: $RUN_DIR belongs to somebody else; set RUN_DIR to a directory of your own" >&2
    return 1 2>/dev/null || exit 1
fi
export RUN_DIR

export IPC_DIR="${IPC_DIR:-$RUN_DIR/ipc}"        # the IPC channel layer's files

# TLS=1: the setups with `tls` in `offers=` answer over TLS, with a certificate of their own that is for BIND and trusted by
# nobody who was not given it. ECDSA, as Let's Encrypt issues by default.
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
            echo "defaults.sh: openssl made no certificate: $(tail -n 1 "$RUN_DIR/openssl.log")" >&2
            return 1 2>/dev/null || exit 1
        }
    fi
fi

# Another Python for the sample project, with its servers: `make setup PYTHONS=python3.13` made it.
if [ -n "${PYTHON:-}" ] && ! [ -f "stacks/$PYTHON/.venv/.ready" ]; then
    echo "defaults.sh: PYTHON=$PYTHON is not installed; try: make setup PYTHONS=$PYTHON" >&2
    return 1 2>/dev/null || exit 1
fi

case ":$PATH:" in
    *":$PWD/.venv/bin:"*) ;;
    *) export PATH="$PWD/.venv/bin:$PATH" ;;
esac
if [ -n "${PYTHON:-}" ]; then
    export PATH="$PWD/stacks/$PYTHON/.venv/bin:$PATH"
fi
