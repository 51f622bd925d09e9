// Absolute schedules, fixed before the first request: a fixed rate at even moments, which is pure arithmetic, the same at
// random moments, and a recorded one.

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
   * @param {number} fromMs how much of a longer schedule goes before: it is cut there, and counted from there
   */
  constructor(rate, durationMs, index = 0, of = 1, fromMs = 0) {
    this.gapMs = 1000 / rate;
    this.index = index;
    this.of = of;
    this.fromMs = fromMs;
    this.before = sendsBefore(rate, fromMs);
    /** How many sends all processes have. */
    this.whole = sendsBefore(rate, fromMs + durationMs) - this.before;
    /** How many sends this process has. */
    this.count = Math.max(0, Math.ceil((this.whole - index) / of));
  }

  /**
   * When the i-th send of this process is due, in milliseconds after the start; Infinity past the last one.
   *
   * @param {number} i
   * @returns {number}
   */
  dueMs(i) {
    return i < this.count ? (this.before + this.place(i)) * this.gapMs - this.fromMs : Infinity;
  }

  /**
   * The place of the i-th send of this process among those of all.
   *
   * @param {number} i
   * @returns {number}
   */
  place(i) {
    return this.index + i * this.of;
  }
}

/**
 * How many sends of a rate are due before the end.
 *
 * @param {number} rate
 * @param {number} durationMs
 */
function sendsBefore(rate, durationMs) {
  // The tolerance keeps 0.1 * 30 from becoming 3.0000000000000004, hence four sends.
  return Math.ceil((rate * durationMs) / 1000 - 1e-6);
}

/**
 * When users who know nothing of each other send so many requests: each moment is as likely as any other, so they are
 * sorted uniform numbers (given their count, the arrivals of a Poisson process are). The same seed gives the same moments.
 *
 * @param {number} rate requests per second
 * @param {number} durationMs
 * @param {number} seed
 * @returns {Float64Array} milliseconds after the start, ascending
 */
export function randomMoments(rate, durationMs, seed) {
  // The sums of exponential gaps, scaled to the duration, are sorted uniforms (Devroye, Non-Uniform Random Variate
  // Generation, 1986, chapter V): no sorting, and each number is drawn once.
  const moments = new Float64Array(sendsBefore(rate, durationMs));
  const chance = uniforms(seed);
  let sum = 0;
  for (let k = 0; k < moments.length; k++) {
    sum -= Math.log(1 - chance());
    moments[k] = sum;
  }
  const scale = durationMs / (sum - Math.log(1 - chance()));
  return moments.map((moment) => moment * scale);
}

/**
 * Numbers from 0 up to 1: the small fast counter of PractRand (sfc32), whose state a seed alone decides.
 *
 * @param {number} seed
 */
export function uniforms(seed) {
  let [a, b, c, counter] = [0, seed | 0, (seed / 2 ** 32) | 0, 1];
  const next = () => {
    const found = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + found) | 0;
    return (found >>> 0) / 2 ** 32;
  };
  for (let turn = 0; turn < 12; turn++) {
    next(); // until the seed has reached every bit
  }
  return next;
}

/**
 * Those of some moments that are in a part of their time, counted from its beginning.
 *
 * @param {Float64Array} moments ascending
 * @param {number} fromMs
 * @param {number} durationMs
 */
export function cut(moments, fromMs, durationMs) {
  return moments.filter((moment) => moment >= fromMs && moment < fromMs + durationMs).map((moment) => moment - fromMs);
}

/** One schedule after another: sends that are not measured, until a setup has settled, and then those that are. */
export class Settling {
  /**
   * @param {Schedule | Listed} before
   * @param {number} beforeMs how long it lasts
   * @param {Schedule | Listed} then
   */
  constructor(before, beforeMs, then) {
    this.before = before;
    this.beforeMs = beforeMs;
    this.then = then;
    /** How many sends this process has. */
    this.count = before.count + then.count;
    /** How many sends all processes have. */
    this.whole = before.whole + then.whole;
  }

  /**
   * When the i-th send of this process is due, in milliseconds after the start; Infinity past the last one.
   *
   * @param {number} i
   * @returns {number}
   */
  dueMs(i) {
    const { before, beforeMs, then } = this;
    return i < before.count ? before.dueMs(i) : beforeMs + then.dueMs(i - before.count);
  }

  /**
   * The place of the i-th send of this process among those of all.
   *
   * @param {number} i
   * @returns {number}
   */
  place(i) {
    const { before, then } = this;
    return i < before.count ? before.place(i) : before.whole + then.place(i - before.count);
  }
}

/** A schedule whose moments are known: send k is due at the k-th of the times. */
export class Listed {
  /**
   * @param {ArrayLike<number>} timesMs of the whole, after the start, ascending
   * @param {number} index
   * @param {number} of
   */
  constructor(timesMs, index = 0, of = 1) {
    this.index = index;
    this.of = of;
    this.timesMs = Float64Array.from(timesMs).filter((_, k) => k % of === index);
    this.whole = timesMs.length;
    this.count = this.timesMs.length;
  }

  /**
   * @param {number} i
   * @returns {number}
   */
  dueMs(i) {
    return i < this.count ? this.timesMs[i] : Infinity;
  }
  /**
   * @param {number} i
   * @returns {number}
   */
  place(i) {
    return this.index + i * this.of;
  }
}
