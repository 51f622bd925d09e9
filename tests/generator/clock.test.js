import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callAt, nowMs } from '../../loadtests/generator/clock.js';

test('a past time gives a delay of 0', (t) => {
  const delays = [];
  t.mock.method(globalThis, 'setTimeout', (act, delay) => delays.push(delay));
  callAt(nowMs() - 1000, () => {});
  callAt(nowMs() + 1000, () => {});
  assert.equal(delays[0], 0);
  assert.ok(delays[1] > 0 && delays[1] <= 1000);
});
