// The common clock of all threads and processes of a run: CLOCK_MONOTONIC in milliseconds, which Python reads as
// time.monotonic_ns() / 1e6. performance.now() is the cheapest way to read this clock, but starts at a different time
// in each thread. ORIGIN_MS is the difference between the two clocks in this thread. A pause between the readings of
// the clocks makes the measured difference smaller, never larger, so the largest of ten differences is the most
// accurate.

const ORIGIN_MS = Math.max(
  ...Array.from({ length: 10 }, () => Number(process.hrtime.bigint()) / 1e6 - performance.now()),
);

/**
 * Return the time of the monotonic clock in milliseconds, with an error below a microsecond.
 *
 * @returns {number}
 */
export function nowMs() {
  return performance.now() + ORIGIN_MS;
}

/**
 * Call a function at this time of nowMs(), or as soon as possible if the time has passed. The delay is never negative,
 * because Node 24 warns about negative delays.
 *
 * @param {number} dueMs
 * @param {() => void} act
 * @returns {NodeJS.Timeout}
 */
export function callAt(dueMs, act) {
  return setTimeout(act, Math.max(0, dueMs - nowMs()));
}
