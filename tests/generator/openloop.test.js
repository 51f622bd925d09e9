import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nowMs } from '../../loadtests/generator/clock.js';
import { Exchange } from '../../loadtests/generator/recorder.js';
import { openloop } from '../../loadtests/generator/openloop.js';

const JOB = {
  origin: 'http://127.0.0.1:1', requests: [null], order: 'AAA=', timesMs: null, rate: 100,
  connections: 20, timeoutMs: 1000, index: 0, processes: 1,
}; // prettier-ignore

/** Return a slice of 50 ms from a schedule of one second. The slice starts now. */
function sliced(fromMs) {
  const part = { fromMs, ofMs: 1000 };
  return { start: nowMs(), settleMs: 0, durationMs: 50, graceMs: 0, arrivalSeed: null, settling: part, measured: part };
}

const SILENT = {
  exchange: () => new Exchange(),
  connect: (_job, owner) => ({
    busy: false,
    send(exchange, intended) {
      Object.assign(this, { exchange, intended, busy: true, handedAt: nowMs(), sentAt: nowMs() });
      owner.onSent(this, this.sentAt);
    },
    destroy() {},
  }),
};

test('outstanding requests are recorded if a slice ends before its timers run, but not if it is stopped', async () => {
  const load = openloop(SILENT, JOB, () => {});
  await load.ready();
  for (const fromMs of [0, 50]) {
    const over = load.run(sliced(fromMs));
    while (nowMs() < load.endMs) {
      // block the event loop, as a busy machine does
    }
    load.look(nowMs());
    await over;
  }
  const stopped = load.run(sliced(0));
  load.stop();
  await stopped;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(load.close().backlog.length, 2);
});
