// The thread that wakes the event loop when a send is due (see pacer.js).
//
// Node's timers count whole milliseconds. An event loop that spins instead uses a whole core, which would slow a server
// on the same core or its hyperthread. Atomics.wait is accurate to microseconds and uses no CPU while it waits, but
// must not be called on the thread that reads the answers.

import { parentPort, workerData } from 'node:worker_threads';

import { nowMs } from './clock.js';

// The metronome wakes the event loop at most once in restMs. The loop then sends all due requests. An answer can wake
// the loop earlier.
const { memory, restMs } = /** @type {{memory: SharedArrayBuffer, restMs: number}} */ (workerData);
const changes = new Int32Array(memory, 0, 1);
const due = new Float64Array(memory, 8, 1);
const earlyMs = new Float64Array(memory, 16, 1);

let rested = 0;
for (;;) {
  const changesBefore = Atomics.load(changes, 0);
  const now = nowMs();
  const wait = Math.max(due[0] - earlyMs[0], rested) - now;
  if (wait > 0) {
    Atomics.wait(changes, 0, changesBefore, wait);
  } else {
    rested = now + restMs;
    parentPort?.postMessage(null);
    Atomics.wait(changes, 0, changesBefore);
  }
}
