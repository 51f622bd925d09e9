# Set the options that Hypercorn's command line lacks or handles incorrectly. Version 0.18 uses the value of
# --max-requests for the jitter.
import os

# By default, Hypercorn closes a connection after a thousand requests, unlike the other servers.
keep_alive_max_requests = 1_000_000_000

max_requests = int(os.environ["BENCH_MAX_REQUESTS"]) if os.environ["BENCH_MAX_REQUESTS"] else None
max_requests_jitter = int(os.environ["BENCH_MAX_REQUESTS_JITTER"] or 0)

certfile, keyfile = os.environ["BENCH_TLS_CERTIFICATE"] or None, os.environ["BENCH_TLS_KEY"] or None
