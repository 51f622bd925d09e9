import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Server, made } from './simulated.js';

test('a slice without a pause has its planned length', () => {
  const server = new Server({ eachMs: 0.67, pauseMs: 0, every: 1e9, random: false });
  const found = made(server, { rate: 200, wholeMs: 2000, sliceMs: 500, settleMs: 100 });
  assert.deepEqual([found.planned, found.ok, found.duration_s], [400, 400, 2]);
});

test('only the pauses make the slices of a closed loop longer', () => {
  const server = new Server({ eachMs: 0.67, pauseMs: 30, every: 60, random: false });
  const { duration_s } = made(server, { rate: null, wholeMs: 10_000, sliceMs: 500, settleMs: 100, connections: 32 });
  // After each 40 ms of answers, no answers arrive for 30 ms. 20 ms of this time count as a pause.
  assert.ok(duration_s < 15, `${duration_s} s`);
});

test('answers that arrive together aren\'t a pause', () => {
  const connections = 10;
  const server = new Server({ eachMs: 30, pauseMs: 0, every: 1e9, random: false, sharing: connections });
  const load = { rate: null, wholeMs: 12_000, settleMs: 300, connections, answerMs: 30 };
  const { duration_s, rate } = made(server, { ...load, sliceMs: 1200 });
  assert.ok(duration_s < 13.5, `${duration_s} s`);
  const whole = made(server, { ...load, sliceMs: 12_000, settleMs: 0 });
  assert.ok(Math.abs(rate / whole.rate - 1) < 0.02, `${whole.rate} in one piece, ${rate} in slices`);
});

test('a slice ends even if the server never answers', () => {
  const silent = new Server({ eachMs: 1e9, pauseMs: 0, every: 1e9, random: false });
  for (const rate of [null, 200]) {
    const found = made(silent, { rate, wholeMs: 1000, sliceMs: 500, settleMs: 100 });
    assert.equal(found.ok, 0);
    assert.equal(found.planned, Object.values(found.errors).reduce((sum, count) => sum + count, 0) + found.unfinished);
    assert.ok(found.duration_s >= 1, `${found.duration_s} s`);
  }
});

test('requests after a pause are sent on time', () => {
  const server = new Server({ eachMs: 4, pauseMs: 120, every: 67, random: true });
  const { spreads } = made(server, { rate: 200, wholeMs: 200_000, sliceMs: 500, settleMs: 100, connections: 1000 });
  assert.ok(spreads.pacing_lag.max_us <= 1000, `${spreads.pacing_lag.max_us} µs`);
});
