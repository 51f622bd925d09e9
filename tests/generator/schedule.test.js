import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Listed, randomMoments, Schedule } from '../../loadtests/generator/schedule.js';

/** @param {Schedule | Listed} schedule */
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

test('random moments are as many as even ones, in order, and within the duration', () => {
  const moments = randomMoments(300, 10_000, 1);
  assert.equal(moments.length, 3000);
  assert.ok(moments.every((moment, k) => moment >= (moments[k - 1] ?? 0) && moment < 10_000));
});

test('a seed decides them, to its last bit', () => {
  assert.deepEqual(randomMoments(50, 1000, 7), randomMoments(50, 1000, 7));
  assert.notDeepEqual(randomMoments(50, 1000, 7), randomMoments(50, 1000, 8));
  assert.notDeepEqual(randomMoments(50, 1000, 7), randomMoments(50, 1000, 7 + 2 ** 31));
});

test('they are as those of a Poisson process: gaps vary as much as they last, counts as much as they are', () => {
  const moments = randomMoments(1000, 100_000, 2016);
  const gaps = Array.from(moments, (moment, k) => moment - (moments[k - 1] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  assert.ok(Math.abs(mean - 1) < 0.001);
  assert.ok(Math.abs(variance - 1) < 0.03); // its standard error is 0.9%
  const counts = new Array(1000).fill(0);
  moments.forEach((moment) => counts[Math.floor(moment / 100)]++);
  const spread = counts.reduce((sum, count) => sum + (count - 100) ** 2, 0) / counts.length;
  assert.ok(spread > 85 && spread < 115, `${spread}`); // 100, with a standard error of 4.5
});

test('the shares of several processes are the whole, each random moment once', () => {
  const moments = randomMoments(100, 1010, 3);
  const shares = [0, 1, 2].flatMap((index) => all(new Listed(moments, index, 3)));
  assert.deepEqual(Float64Array.from(shares).sort(), moments);
});
