import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Server, made } from './simulated.js';

const WITHIN = 0.02;

/** Send the same load to the same server twice: in one piece, and in slices. */
function bothWays(pauseMs, every, random, rate, wholeMs) {
  return [wholeMs, 500].map((sliceMs) => {
    const server = new Server({ eachMs: 0.67, pauseMs, every, random });
    const found = made(server, { rate, wholeMs, sliceMs, settleMs: sliceMs === 500 ? 100 : 0 });
    assert.deepEqual([found.planned, found.errors, found.unfinished], [found.ok, {}, 0]);
    return found;
  });
}

function agree(one, other) {
  assert.ok(Math.abs(other / one - 1) < WITHIN, `${one} in one piece, ${other} in slices`);
}

for (const random of [false, true]) {
  // Short pauses are frequent, so they need less time for the same accuracy.
  for (const [pauseMs, every, wholeMs] of [[20, 100, 60_000], [1000, 2000, 300_000]]) {
    test(`slices agree with one piece: closed loop, pause of ${pauseMs} ms after ${random ? 'about ' : ''}${every} requests`, () => {
      const [whole, sliced] = bothWays(pauseMs, every, random, null, wholeMs);
      agree(whole.rate, sliced.rate);
    });
  }
  test(`slices agree with one piece: open loop, pause of 1 s after ${random ? 'about ' : ''}800 requests`, () => {
    const [whole, sliced] = bothWays(1000, 800, random, 200, random ? 2_000_000 : 600_000);
    agree(whole.slow, sliced.slow);
    agree(whole.rate, sliced.rate);
  });
}
