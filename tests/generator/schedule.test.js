import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Schedule } from '../../loadtests/generator/schedule.js';

/** @param {Schedule} schedule */
const all = (schedule) => Array.from({ length: schedule.count }, (_, i) => schedule.dueMs(i));

test('send k is due at k / rate, from zero to before the end', () => {
  assert.deepEqual(all(new Schedule(4, 1000)), [0, 250, 500, 750]);
  assert.deepEqual(all(new Schedule(4, 1001)), [0, 250, 500, 750, 1000]);
  assert.equal(new Schedule(4, 1000).dueMs(4), Infinity);
});

test('lateness does not add up', () => {
  const schedule = new Schedule(300, 600_000);
  assert.equal(schedule.count, 180_000);
  assert.ok(Math.abs(schedule.dueMs(179_999) - (179_999 * 1000) / 300) < 1e-6);
});

test('rounding adds no send', () => {
  assert.equal(new Schedule(0.1, 30_000).count, 3);
  assert.equal(new Schedule(1 / 3, 9000).count, 3);
});

test('the shares of several processes are the whole, each send once', () => {
  for (const [rate, duration, of] of [[100, 1010, 3], [7, 1000, 7], [6000, 1000, 4], [1, 5000, 2]]) {
    const shares = Array.from({ length: of }, (_, index) => all(new Schedule(rate, duration, index, of))).flat();
    assert.deepEqual(shares.sort((a, b) => a - b), all(new Schedule(rate, duration)));
  }
});
