"""The limits beyond which a trial is invalid or doubtful, but for the generator's part of a percentile
(``loadtests.plan.times.LATE``)."""

# Share of the servers' cores used by other load, the hypervisor (steal) included.
OTHERS_CPU_DOUBTFUL = 0.10
OTHERS_CPU_INVALID = 0.25

GENERATOR_CPU = 0.85  # above this share of its core an event loop delays its own work
CLOCK_JUMP_S = 0.5  # wall against monotonic clock; NTP slews at most 0.3 s in ten minutes
FREQUENCY_CHANGE = 0.03  # more could make a verdict with the default delta
LOOP_DISAGREES = 0.02  # of a closed loop's rate, which follows from users, think and response time

# Between clients of one load. A p50 of a hundred requests is known to some 10%.
CLIENTS_DIFFER = 0.25  # by which the p50, or the share of requests answered well, may differ
CLIENTS_DIFFER_MS = 1.0  # by which the p50 may differ where that is more
CLIENT_REQUESTS = 100  # of each, at the least
