// Call a function when the next send is due, as precisely as possible without spinning all the time.

import { writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { nowMs } from './clock.js';

// The metronome wakes the loop this long before a send, because waking takes about this long. The loop spins for the
// rest. If sends are closer together than this, spinning would fill the time between them, so the metronome wakes the
// loop at the send.
const EARLY_MS = 0.15;
const SPIN_FROM_GAP_MS = 4 * EARLY_MS;
const CLOCKS_DIFFER_MS = 0.05; // the two threads' clocks, at most: see clock.js
// Waking the loop takes a tenth of a millisecond of CPU, several times as much as a request, so limit how often it
// happens.
const REST_MS = 0.5;
// If gaps are uneven, a send can be due before the metronome may wake the loop again. The loop then spins until it is
// due. If sends are so close that spinning would take over a quarter of a core, they may be late instead.
const SPIN_THE_REST_FROM_GAP_MS = 4 * REST_MS;

export class Pacer {
  memory = new SharedArrayBuffer(24);
  changes = new Int32Array(this.memory, 0, 1);
  due = new Float64Array(this.memory, 8, 1);
  earlyMs = new Float64Array(this.memory, 16, 1);
  spinMs = 0;
  spinning = false;

  /** @param {() => number} sendDue sends due requests and returns the time of the next request (like nowMs), or Infinity
   * without another request */
  constructor(sendDue) {
    this.sendDue = sendDue;
    this.due[0] = Infinity;
    sleepExactly();
    const workerData = { memory: this.memory, restMs: REST_MS };
    this.worker = new Worker(new URL('./metronome.js', import.meta.url), { workerData });
    this.worker.on('message', () => this.wake());
    this.spin = this.spin.bind(this);
  }

  async ready() {
    await new Promise((resolve) => this.worker.once('online', resolve));
  }

  /**
   * Start the metronome. Any other code may also send the requests that are due.
   *
   * @param {number} gapMs the mean time between two sends
   * @param {boolean} even whether all gaps are equal
   */
  start(gapMs, even) {
    const earlyMs = gapMs >= SPIN_FROM_GAP_MS ? EARLY_MS : 0;
    const aheadMs = !even && gapMs >= SPIN_THE_REST_FROM_GAP_MS ? REST_MS : earlyMs;
    this.earlyMs[0] = earlyMs;
    this.spinMs = aheadMs + CLOCKS_DIFFER_MS;
    this.wake();
  }

  /** Stop the metronome until it is started again. */
  rest() {
    this.due[0] = Infinity;
  }

  stop() {
    this.rest();
    return this.worker.terminate();
  }

  /** The metronome isn't woken for a new moment, because it checks the moment before it calls. */
  setDue(/** @type {number} */ dueMs) {
    this.due[0] = dueMs;
    Atomics.add(this.changes, 0, 1);
  }

  wake() {
    this.setDue(this.sendDue());
    Atomics.notify(this.changes, 0);
    if (!this.spinning) {
      this.spin();
    }
  }

  /** Spin, and handle answers, while a send is closer than the metronome's accuracy. */
  spin() {
    if (this.due[0] <= nowMs()) {
      this.setDue(this.sendDue());
    }
    this.spinning = this.due[0] - nowMs() <= this.spinMs;
    if (this.spinning) {
      setImmediate(this.spin);
    }
  }
}

/** To save power, Linux extends timed sleeps by 50 microseconds, unless the thread changes this. */
function sleepExactly() {
  try {
    writeFileSync('/proc/self/timerslack_ns', '1'); // threads started later inherit it
  } catch {
    // Not on Linux or on an old one. The scheduling delay is larger, and reports show it.
  }
}
