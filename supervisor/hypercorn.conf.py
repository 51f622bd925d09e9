# Set the options that Hypercorn's command line doesn't have, or handles wrongly: it uses the number of requests as the
# jitter (0.18).
import os

# By default, Hypercorn closes a connection after a thousand requests. The other servers don't.
keep_alive_max_requests = 1_000_000_000

max_requests = int(os.environ["BENCH_MAX_REQUESTS"]) if os.environ["BENCH_MAX_REQUESTS"] else None
max_requests_jitter = int(os.environ["BENCH_MAX_REQUESTS_JITTER"] or 0)

certfile, keyfile = os.environ["BENCH_TLS_CERTIFICATE"] or None, os.environ["BENCH_TLS_KEY"] or None
