# What Hypercorn's command line has no option for, or takes wrongly: its jitter is the number of requests (0.18).
import os

# Hypercorn closes a connection after a thousand requests; none of the other servers does.
keep_alive_max_requests = 1_000_000_000

max_requests = int(os.environ["MAX_REQUESTS"]) if os.environ["MAX_REQUESTS"] else None
max_requests_jitter = int(os.environ["MAX_REQUESTS_JITTER"] or 0)

certfile, keyfile = os.environ["TLS_CERTIFICATE"] or None, os.environ["TLS_KEY"] or None
