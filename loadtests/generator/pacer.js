// Call a function when the next send is due, as precisely as possible without spinning all the time.

import { writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { nowMs } from './clock.js';

// The metronome wakes the event loop EARLY_MS before a send, because waking takes about that long. The loop spins for
// the remaining time. If the gaps between sends are shorter than SPIN_FROM_GAP_MS, spinning would fill too much of
// them, so the metronome wakes the loop at the time of the send.
const EARLY_MS = 0.15;
const SPIN_FROM_GAP_MS = 4 * EARLY_MS;
const CLOCKS_DIFFER_MS = 0.05; // the largest difference between the clocks of the two threads (see clock.js)
// Waking the loop needs 0.1 ms of CPU time, several times as much as a request. The metronome therefore waits at least
// this long before it wakes the loop again.
const REST_MS = 0.5;
// If gaps are uneven, a send can be due before the metronome may wake the loop again. The loop then spins until the
// send is due. If sends are so close that spinning would need more than a quarter of a core, sends may be late instead.
const SPIN_THE_REST_FROM_GAP_MS = 4 * REST_MS;

export class Pacer {
  memory = new SharedArrayBuffer(24);
  changes = new Int32Array(this.memory, 0, 1);
  due = new Float64Array(this.memory, 8, 1);
  earlyMs = new Float64Array(this.memory, 16, 1);
  spinMs = 0;
  spinning = false;

  /**
   * @param {() => number} sendDue sends due requests and returns when the next request is due (like nowMs), or Infinity
   * if there is no next request
   */
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
   * Start the metronome. Other code may also send due requests.
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

  /**
   * Set the time of the next send. The metronome reads this time before each wake-up, so the metronome needs no
   * notification.
   */
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

  /** Spin while the next send is due too soon for the metronome's accuracy. The loop still handles answers. */
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

/** Make timed sleeps exact. To save power, Linux extends sleeps by 50 microseconds by default. */
function sleepExactly() {
  try {
    writeFileSync('/proc/self/timerslack_ns', '1'); // threads that start later inherit this setting
  } catch {
    // Other systems and old versions of Linux don't support this setting. Their scheduling delay is larger, as reports
    // show.
  }
}
