"""The limits for invalid and doubtful trials. ``plan.times.LATE`` limits the load generator's share of a percentile."""

# The share of the servers' cores that other load uses, including the hypervisor (steal).
OTHERS_CPU_DOUBTFUL = 0.10
OTHERS_CPU_INVALID = 0.25

GENERATOR_CPU = 0.85  # Above this share of its core, an event loop delays its own work.
CLOCK_JUMP_S = 0.5  # The wall clock is compared with the monotonic clock. NTP slews at most 0.3 s in ten minutes.
FREQUENCY_CHANGE = 0.03  # With the default delta, a larger change could cause a verdict by itself.
# In a closed loop, the allowed relative difference from the rate that users, think time and response time determine.
LOOP_DISAGREES = 0.02

# Limits for differences between the clients of one load. The p50 of a hundred requests is accurate to about 10%.
CLIENTS_DIFFER = 0.25  # The allowed difference of the p50, or of the share of successful requests.
CLIENTS_DIFFER_MS = 1.0  # The allowed difference of small p50s in ms.
CLIENT_REQUESTS = 100  # Clients with fewer requests aren't compared.
