// Create absolute schedules, which are fixed before the first request. Moments are ascending, in milliseconds after the
// start.

/**
 * The sends of one process. The sends of all processes repeat a fixed order of `turns` turns. Turn t belongs to process
 * t modulo `processes`.
 */
export class Schedule {
  /**
   * @param {ArrayLike<number>} moments of all processes
   * @param {number} index the index of this process, from 0
   */
  constructor(moments, index = 0, processes = 1, turns = processes) {
    this.index = index;
    this.processes = processes;
    this.turns = turns;
    this.own = Math.ceil((turns - index) / processes); // the number of this process's turns
    /** The number of sends of all processes. */
    this.whole = moments.length;
    /** The number of sends of this process. */
    const rest = Math.ceil(((moments.length % turns) - index) / processes);
    this.count = Math.floor(moments.length / turns) * this.own + Math.max(0, rest);
    this.planned = this.count;  // the count without appended sends
    this.moments = Float64Array.from({ length: this.count }, (_, i) => moments[this.place(i)]);
  }

  get isAsPlanned() {
    return this.count === this.planned;
  }

  /** Append further sends of all processes. Only the sends of this process are stored. */
  append(/** @type {ArrayLike<number>} */ moments) {
    const own = new Schedule(moments, this.index, this.processes, this.turns).moments;
    this.moments = Float64Array.from([...this.moments, ...own]);
    this.count = this.moments.length;
  }

  /** Return the time of this process's i-th send, or Infinity after the last send. */
  dueMs(/** @type {number} */ i) {
    return i < this.count ? this.moments[i] : Infinity;
  }

  /** Return the place of this process's i-th send among the sends of all processes. */
  place(/** @type {number} */ i) {
    return Math.floor(i / this.own) * this.turns + this.index + (i % this.own) * this.processes;
  }
}

/** Return the number of evenly spaced sends at this rate that are due before the end of the duration. */
function sendsBefore(/** @type {number} */ rate, /** @type {number} */ durationMs) {
  // Without the tolerance, 0.1 * 30 would be 3.0000000000000004, which would mean four sends.
  return Math.ceil((rate * durationMs) / 1000 - 1e-6);
}

/**
 * Return evenly spaced moments: send k is due k / rate seconds after the start.
 *
 * @param {number} rate requests per second
 * @param {number} durationMs
 * @param {number} fromMs the start of this part in a longer schedule
 */
export function evenMoments(rate, durationMs, fromMs = 0) {
  const before = sendsBefore(rate, fromMs);
  const moments = new Float64Array(sendsBefore(rate, fromMs + durationMs) - before);
  for (let k = 0; k < moments.length; k++) {
    moments[k] = (before + k) * (1000 / rate) - fromMs;
  }
  return moments;
}

/**
 * Return the arrival times of a number of independent users: sorted uniform moments, as in a Poisson process.
 *
 * @param {number} rate requests per second
 * @param {number} durationMs
 * @param {number} seed the same seed gives the same moments
 */
export function randomMoments(rate, durationMs, seed) {
  // The sums of exponential gaps, scaled to the duration, are sorted uniform numbers (Devroye, Non-Uniform Random
  // Variate Generation, 1986, chapter V). The sums are already sorted, and each number is drawn once.
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
 * Return a generator of random numbers that are at least 0 and below 1: the small fast counter of PractRand (sfc32).
 * The numbers depend only on the seed.
 */
export function uniforms(/** @type {number} */ seed) {
  let [a, b, c, counter] = [0, seed | 0, (seed / 2 ** 32) | 0, 1];
  const next = () => {
    const found = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + found) | 0;
    return (found >>> 0) / 2 ** 32;
  };
  for (let k = 0; k < 12; k++) {
    next(); // until the seed affects every bit
  }
  return next;
}

/** @param {number} rate @param {import('./types.ts').Part} part @param {number} lastsMs @param {number | null} seed */
function momentsOf(rate, { fromMs, ofMs }, lastsMs, seed) {
  return seed === null
    ? evenMoments(rate, lastsMs, fromMs)
    : randomMoments(rate, ofMs, seed)
        .filter((moment) => moment >= fromMs && moment < fromMs + lastsMs)
        .map((moment) => moment - fromMs);
}

/**
 * Return moments for the grace period of a slice, at the rate of the load. The moments differ between slices, but not
 * between setups.
 *
 * @param {import('./types.ts').Job} job
 * @param {import('./types.ts').Slice} slice
 */
export function furtherMoments(job, { settleMs, durationMs, graceMs, arrivalSeed, measured }) {
  const seed = arrivalSeed === null ? null : arrivalSeed + 2 + Math.round(measured.fromMs);
  const fromMs = seed === null ? measured.fromMs + durationMs : 0;
  const moments = momentsOf(/** @type {number} */ (job.rate), { fromMs, ofMs: graceMs }, graceMs, seed);
  return Float64Array.from(moments, (moment) => settleMs + durationMs + moment);
}

/** @param {import('./types.ts').Job} job @param {import('./types.ts').Slice} slice */
export function scheduleOf(job, slice) {
  const { settleMs, durationMs, arrivalSeed } = slice;
  const rate = /** @type {number} */ (job.rate);
  /** @param {import('./types.ts').Part} part @param {number} lastsMs @param {number} draw */
  const paced = (part, lastsMs, draw) => momentsOf(rate, part, lastsMs, arrivalSeed === null ? null : arrivalSeed + draw);
  const settling = settleMs > 0 ? paced(slice.settling, settleMs, 1) : [];
  const recorded = durationMs > 0 ? job.timesMs : null;
  const measured = Float64Array.from(recorded ?? paced(slice.measured, durationMs, 0));
  const moments = new Float64Array(settling.length + measured.length);
  moments.set(settling);
  moments.set(measured.map((moment) => settleMs + moment), settling.length);
  return new Schedule(moments, job.index, job.processes, job.turns);
}
