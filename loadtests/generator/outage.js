// Find the longest time in which all requests of a load failed. The load must have a single slice.

const MAX_REQUESTS = 100_000; // to save memory, a load with more requests has no outage figure

export class Outage {
  /** @type {{ intended: number, ok: boolean }[]} */
  requests = [];

  /** Add a request that has ended. Requests may end in a different order than they were due. */
  add(/** @type {number} */ intended, /** @type {boolean} */ ok) {
    if (this.requests.length <= MAX_REQUESTS) {
      this.requests.push({ intended, ok });
    }
  }

  /**
   * Return the longest time from the intended send of a failed request to the intended send of the next answered
   * request.
   *
   * @returns {number | null} milliseconds, or null if there were too many requests
   */
  longestMs() {
    let longest = 0;
    let firstFailed = Infinity;
    for (const { intended, ok } of this.requests.sort((one, other) => one.intended - other.intended)) {
      longest = Math.max(longest, intended - firstFailed);
      firstFailed = ok ? Infinity : Math.min(firstFailed, intended);
    }
    return this.requests.length > MAX_REQUESTS ? null : longest;
  }
}
