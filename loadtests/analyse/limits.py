"""The limits for invalid and doubtful trials, except the generator's part of a percentile (``plan.times.LATE``)."""

# Share of the servers' cores used by other load, the hypervisor (steal) included.
OTHERS_CPU_DOUBTFUL = 0.10
OTHERS_CPU_INVALID = 0.25

GENERATOR_CPU = 0.85  # above this share of its core an event loop delays its own work
CLOCK_JUMP_S = 0.5  # wall against monotonic clock; NTP slews at most 0.3 s in ten minutes
FREQUENCY_CHANGE = 0.03  # more could make a verdict with the default delta
LOOP_DISAGREES = 0.02  # of the rate of a closed loop, which follows from users, think time and response time

# Between clients of one load. The p50 of a hundred requests is accurate to about 10%.
CLIENTS_DIFFER = 0.25  # allowed difference of the p50, or of the share of successful requests
CLIENTS_DIFFER_MS = 1.0  # allowed difference of the p50, if it is larger than the share
CLIENT_REQUESTS = 100  # the minimum number of each
