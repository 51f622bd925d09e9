#!/bin/sh
# Run nginx in front of servers on Unix sockets: nginx.sh SOCKET [SOCKET]. It listens on BENCH_BIND and BENCH_PORT, and
# its files are in RUN_DIR.
#
# By default, nginx buffers in both directions: it reads a whole request before it passes it on, and a slow client
# doesn't block the server's answer. Both sides use keep-alive if the server supports it.
# https://nginx.org/en/docs/http/ngx_http_proxy_module.html
# https://nginx.org/en/docs/http/ngx_http_upstream_module.html#keepalive
set -eu

folder=$RUN_DIR/nginx
mkdir -p "$folder"
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# If nginx starts as root, it would run its workers as a user that may not enter RUN_DIR.
user=
[ "$(id -u)" != 0 ] || user="user root;"

# With max_fails=0, nginx tries a server again immediately after a refused connection. With fail_timeout=0, nginx would
# skip the server for the rest of that second.
servers=$(printf '        server unix:%s max_fails=0;\n' "$@")

# Over TLS, clients choose between HTTP/1.1 and HTTP/2. TLS 1.3 isn't enabled by default before nginx 1.23.4.
tls= certificate=
if [ -n "$BENCH_TLS" ]; then
    tls="ssl http2"
    certificate="ssl_certificate $BENCH_TLS_CERTIFICATE; ssl_certificate_key $BENCH_TLS_KEY;
    ssl_protocols TLSv1.2 TLSv1.3;"
fi

# nproc is the number of CPUs that this setup may use ("auto" would count all CPUs of the machine).
cat > "$folder/nginx.conf" <<CONF
daemon off;
$user
worker_processes $(nproc);
worker_rlimit_nofile 8192;
pid $folder/nginx.pid;
error_log stderr error;  # a warning would be a line for each large body

events {
    worker_connections 4096;
}

http {
    access_log off;
    client_body_temp_path $folder/body;
    proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/fastcgi;
    uwsgi_temp_path $folder/uwsgi;
    scgi_temp_path $folder/scgi;

    upstream server {
$servers
        keepalive 64;
        keepalive_requests 1000000000;
        # Shorter than the server's timeout, so that nginx doesn't use a connection that the server is closing.
        keepalive_timeout $((BENCH_KEEP_ALIVE > 10 ? BENCH_KEEP_ALIVE - 5 : 1))s;
    }

    map \$http_upgrade \$connection_to_server {
        default upgrade;
        ""      "";
    }

    server {
        listen $BENCH_BIND:$BENCH_PORT $tls backlog=$BENCH_BACKLOG;
        $certificate
        keepalive_timeout ${BENCH_KEEP_ALIVE}s;
        keepalive_requests 1000000000;
        client_max_body_size 0;  # no limit, because Django checks the size

        location / {
            # Without a path here, nginx forwards the request's path unchanged, with encoded slashes.
            proxy_pass http://server;
            proxy_http_version 1.1;
            proxy_set_header Host \$http_host;
            proxy_set_header Connection \$connection_to_server;
            proxy_set_header Upgrade \$http_upgrade;
            proxy_set_header X-Forwarded-For \$proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto \$scheme;
            proxy_redirect off;
        }
    }
}
CONF

# Until nginx has read its configuration, it writes to the system's log. The option exists since 1.19.5.
early=
if nginx -h 2>&1 | grep -q -- '-e filename'; then
    early='-e stderr'
fi
# shellcheck disable=SC2086  # two words, or none
exec nginx $early -p "$folder" -c "$folder/nginx.conf"
