// The common clock of all threads and processes of a run: CLOCK_MONOTONIC in milliseconds, which Python reads as
// time.monotonic_ns() / 1e6. performance.now() is the cheapest way to read it. Each thread has a separate origin for
// it, which is determined once here. A pause between the two readings makes the difference smaller, never larger.

const ORIGIN_MS = Math.max(
  ...Array.from({ length: 10 }, () => Number(process.hrtime.bigint()) / 1e6 - performance.now()),
);

/**
 * The monotonic clock, in milliseconds, with an error below a microsecond.
 *
 * @returns {number}
 */
export function nowMs() {
  return performance.now() + ORIGIN_MS;
}

/**
 * Call a function at a time of the clock, or soon if that time is over. Node 24 warns of negative delays.
 *
 * @param {number} dueMs
 * @param {() => void} act
 * @returns {NodeJS.Timeout}
 */
export function callAt(dueMs, act) {
  return setTimeout(act, Math.max(0, dueMs - nowMs()));
}
