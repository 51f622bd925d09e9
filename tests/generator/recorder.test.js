import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Exchange, Recorder } from '../../loadtests/generator/recorder.js';

/** Return the figures of a load of ten requests per second, each answered after `tookMs`. Slices last `durationMs`. */
function recorded({ tookMs, settleMs = 0, durationMs, slices = 1 }) {
  const exchange = new Exchange();
  const recorder = new Recorder(() => {}, [exchange]);
  for (let slice = 0; slice < slices; slice++) {
    const start = slice * 1e6;
    const end = start + settleMs + durationMs;
    recorder.start(start, start + settleMs, end);
    const moments = [];
    for (let due = start; due < end; due += 100) {
      moments.push([due, () => recorder.wasSent(exchange, due, due)]);
      moments.push([due + tookMs, (at) => recorder.wasOk(exchange, due, due, at, 200)]);
    }
    moments.sort(([one], [other]) => one - other).forEach(([at, happens]) => happens(at));
    recorder.end(end + tookMs);
  }
  return recorder.measured(false);
}

for (const [what, load, rate, within] of [
  ['is counted from the first of 41 answers', { tookMs: 1000, durationMs: 5000 }, 10.25, 0],
  ['includes all 241 answers in 24 s', { tookMs: 1000, durationMs: 25_000 }, 241 / 24, 0],
  ['covers the whole time if answers are quick', { tookMs: 1, durationMs: 10_000 }, 10, 0.01],
  ['covers the whole time after settling', { tookMs: 1000, settleMs: 2000, durationMs: 3000 }, 10, 0.4],
  ['covers the whole time of each slice after settling', { tookMs: 1000, settleMs: 2000, durationMs: 3000, slices: 3 }, 10, 0.4],
  // The settling time is shorter than the response time. Over the whole time, the rate would be 8.3.
  ['leaves out the time before the first answer in each slice', { tookMs: 1000, settleMs: 500, durationMs: 3000, slices: 2 }, 10, 0.5],
  ['is zero without an answer', { tookMs: 6000, durationMs: 5000 }, 0, 0],
]) {
  test(`the rate ${what}`, () => {
    const found = recorded(load);
    assert.ok(Math.abs(found.rate - rate) <= within, `${found.rate}`);
    assert.equal(found.duration_s, (load.durationMs * (load.slices ?? 1)) / 1000);
  });
}

test('each second contains the outcomes of its requests', () => {
  const seconds = [];
  const exchange = new Exchange();
  const recorder = new Recorder((second) => seconds.push(second), [exchange]);
  recorder.start(0, 0, 2000);
  recorder.wasOk(exchange, 0, 0, 10, 200);
  recorder.wasOk(exchange, 0, 0, 20, 'stale');
  recorder.wasOk(exchange, 0, 0, 30); // the protocol has no statuses
  recorder.wasError(exchange, { kind: 'status', answered: true, text: 'status 503 instead of 200' }, 0, 40, 503);
  recorder.wasError(exchange, { kind: 'timeout', text: 'no answer in 1 s' }, 0, 1500);
  recorder.end(2000);
  assert.deepEqual(seconds.map(({ ends }) => ends), [{ 200: 1, stale: 1, ok: 1, 503: 1 }, { timeout: 1 }]);
});

test('the rate of a closed loop is counted between answers, even if they are slow', () => {
  const exchange = new Exchange();
  const recorder = new Recorder(() => {}, [exchange]);
  for (const start of [0, 1000]) {
    recorder.start(start, start + 100, start + 200);
    for (let at = start; at < start + 200; at += 80) {
      recorder.wasSent(exchange, at, at);
      recorder.wasOk(exchange, at, at, at + 80);
    }
    recorder.end(start + 240);
  }
  assert.equal(recorder.measured(true).rate, 12.5); // over the planned length of the slices, the rate would be 10
});
