// Find the longest time in which all requests of a load failed.

const MAX_REQUESTS = 100_000; // to save memory, a slice with more requests has no outage figure

export class Outage {
  /** @type {{ intended: number, ok: boolean }[]} */
  requests = [];
  longest = 0; // in earlier slices

  /** Start a slice. An outage doesn't continue from one slice to the next. */
  startSlice() {
    this.longest = this.longestMs() ?? NaN;
    this.requests = [];
  }

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
    if (this.requests.length > MAX_REQUESTS || Number.isNaN(this.longest)) {
      return null;
    }
    let longest = this.longest;
    let firstFailed = NaN;
    for (const { intended, ok } of [...this.requests].sort((one, other) => one.intended - other.intended)) {
      if (!Number.isNaN(firstFailed)) {
        longest = Math.max(longest, intended - firstFailed);
      }
      if (ok) {
        firstFailed = NaN;
      } else if (Number.isNaN(firstFailed)) {
        firstFailed = intended;
      }
    }
    return longest;
  }
}
