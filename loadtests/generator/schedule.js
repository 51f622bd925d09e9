// Absolute schedules, fixed before the first request: that of a fixed rate, which is pure arithmetic, and a recorded one.

/**
 * The share of one process in the schedule: of the sends 0, 1, 2, ... of the whole, where send k is due k / rate
 * seconds after the start, it takes those at `index`, `index + of`, `index + 2 of`, ...
 */
export class Schedule {
  /**
   * @param {number} rate requests per second, of all processes together
   * @param {number} durationMs
   * @param {number} index which process this is, from 0
   * @param {number} of how many processes there are
   */
  constructor(rate, durationMs, index = 0, of = 1) {
    this.gapMs = 1000 / rate;
    this.index = index;
    this.of = of;
    // Sends due before the end. The tolerance keeps 0.1 * 30 from becoming 3.0000000000000004, hence four sends.
    const whole = Math.ceil((rate * durationMs) / 1000 - 1e-6);
    /** How many sends this process has. */
    this.count = Math.max(0, Math.ceil((whole - index) / of));
  }

  /**
   * When the i-th send of this process is due, in milliseconds after the start; Infinity past the last one.
   *
   * @param {number} i
   * @returns {number}
   */
  dueMs(i) {
    return i < this.count ? (this.index + i * this.of) * this.gapMs : Infinity;
  }
}

/** The same of a schedule that was recorded: send k is due at the k-th of the times. */
export class Recorded {
  /**
   * @param {number[]} timesMs of the whole, after the start, ascending
   * @param {number} durationMs
   * @param {number} index
   * @param {number} of
   */
  constructor(timesMs, durationMs, index = 0, of = 1) {
    const share = timesMs.filter((_, k) => k % of === index);
    this.gapMs = durationMs / timesMs.length;
    this.timesMs = Float64Array.from(share);
    this.count = share.length;
  }

  /**
   * @param {number} i
   * @returns {number}
   */
  dueMs(i) {
    return i < this.count ? this.timesMs[i] : Infinity;
  }
}
