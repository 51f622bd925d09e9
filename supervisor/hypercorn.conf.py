# What Hypercorn's command line has no option for, or takes wrongly: its jitter is the number of requests (0.18).
import os

# Hypercorn closes a connection after a thousand requests; none of the other servers does.
keep_alive_max_requests = 1_000_000_000

max_requests = int(os.environ["BENCH_MAX_REQUESTS"]) if os.environ["BENCH_MAX_REQUESTS"] else None
max_requests_jitter = int(os.environ["BENCH_MAX_REQUESTS_JITTER"] or 0)

certfile, keyfile = os.environ["BENCH_TLS_CERTIFICATE"] or None, os.environ["BENCH_TLS_KEY"] or None
