# Gunicorn reads this file instead of a gunicorn.conf.py of the served project.
import os
from pathlib import Path

max_requests = int(os.environ["BENCH_MAX_REQUESTS"] or 0)  # 0: never
max_requests_jitter = int(os.environ["BENCH_MAX_REQUESTS_JITTER"] or 0)

# Disable the control socket, because runs don't need it, and two Gunicorns of the same user would share its path. The
# setting isn't on the command line, because Gunicorn before 25.1 refuses unknown options.
control_socket_disable = True

http_parser = os.environ["BENCH_GUNICORN_PARSER"]

if os.environ["BENCH_TLS"]:
    certfile, keyfile = os.environ["BENCH_TLS_CERTIFICATE"], os.environ["BENCH_TLS_KEY"]
    http_protocols = os.environ.get("BENCH_HTTP_PROTOCOLS", "h1")  # the sync worker supports only HTTP/1.1


def post_worker_init(worker):
    """Create a file when a worker has loaded Django. A rolling restart waits for the file before it continues."""
    Path(os.environ["RUN_DIR"], f"ready-{worker.ppid}").touch()
