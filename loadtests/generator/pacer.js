// Calls back when the next send is due, as exactly as the machine allows without spinning all the time.

import { writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { nowMs } from './clock.js';

// The metronome wakes the loop this long before a send, for waking takes about this long; the rest is spun. Where
// sends come closer than this, spinning would fill the time between them: there it wakes the loop at the send.
const EARLY_MS = 0.15;
const SPIN_FROM_GAP_MS = 4 * EARLY_MS;
const CLOCKS_DIFFER_MS = 0.05; // the two threads' clocks, at most: see clock.js
// To wake the loop takes the processor a tenth of a millisecond, several times what a request takes. So the metronome
// does it at most so often.
const REST_MS = 0.5;
// A send that is due before the metronome may wake the loop again is spun for where sends are not even, unless they are
// so close that this would take a large part of a core: from about a quarter of it on they may be late by the rest.
const SPIN_THE_REST_FROM_GAP_MS = 4 * REST_MS;

export class Pacer {
  /**
   * @param {() => number} tick sends what is due and returns when the next send is due (milliseconds of nowMs;
   *   Infinity where none is left)
   */
  constructor(tick) {
    this.tick = tick;
    const memory = new SharedArrayBuffer(24);
    this.turn = new Int32Array(memory, 0, 1);
    this.due = new Float64Array(memory, 8, 1);
    this.due[0] = Infinity;
    this.earlyMs = new Float64Array(memory, 16, 1);
    this.spinMs = 0;
    this.spinning = false;
    sleepExactly();
    const workerData = { memory, restMs: REST_MS };
    this.worker = new Worker(new URL('./metronome.js', import.meta.url), { workerData });
    this.worker.on('message', () => this.woken());
    this.spin = this.spin.bind(this);
  }

  /** Resolves when the metronome's thread runs. */
  async ready() {
    await new Promise((resolve) => this.worker.once('online', resolve));
  }

  /**
   * Starts the metronome. `tick` may be called earlier or more often than that, by whoever is awake anyway.
   *
   * @param {number} gapMs the mean time between two sends
   * @param {boolean} even whether it is the time between any two
   */
  start(gapMs, even) {
    const earlyMs = gapMs >= SPIN_FROM_GAP_MS ? EARLY_MS : 0;
    const aheadMs = !even && gapMs >= SPIN_THE_REST_FROM_GAP_MS ? REST_MS : earlyMs;
    this.earlyMs[0] = earlyMs;
    this.spinMs = aheadMs + CLOCKS_DIFFER_MS;
    this.woken();
  }

  /** Lets the metronome rest until it is started again. */
  rest() {
    this.due[0] = Infinity;
  }

  /** @returns {Promise<number>} */
  stop() {
    this.rest();
    return this.worker.terminate();
  }

  /** Tells the metronome when the next send is due. It need not be woken for that: it looks before it calls. */
  moved(/** @type {number} */ dueMs) {
    this.due[0] = dueMs;
    Atomics.add(this.turn, 0, 1);
  }

  woken() {
    this.moved(this.tick());
    Atomics.notify(this.turn, 0);
    if (!this.spinning) {
      this.spin();
    }
  }

  /** Spins, letting answers in, while a send is nearer than the metronome can tell. */
  spin() {
    if (this.due[0] <= nowMs()) {
      this.moved(this.tick());
    }
    this.spinning = this.due[0] - nowMs() <= this.spinMs;
    if (this.spinning) {
      setImmediate(this.spin);
    }
  }
}

/** Linux lets a timed sleep run 50 microseconds over, to save power, unless the thread asks otherwise. */
function sleepExactly() {
  try {
    writeFileSync('/proc/self/timerslack_ns', '1'); // threads started later inherit it
  } catch {
    // Not Linux, or an old one: the lag is that much larger, and is shown.
  }
}
