import assert from 'node:assert/strict';
import { test } from 'node:test';

import { evenMoments, randomMoments, Schedule, scheduleOf } from '../../loadtests/generator/schedule.js';

test('send k is due at k / rate, and all sends are due before the end', () => {
  assert.deepEqual([...evenMoments(4, 1000)], [0, 250, 500, 750]);
  assert.deepEqual([...evenMoments(4, 1001)], [0, 250, 500, 750, 1000]);
  assert.equal(new Schedule(evenMoments(4, 1000)).dueMs(4), Infinity);
});

test('rounding errors neither accumulate nor add a send', () => {
  const moments = evenMoments(300, 600_000);
  assert.equal(moments.length, 180_000);
  assert.ok(Math.abs(moments[179_999] - (179_999 * 1000) / 300) < 1e-6);
  assert.equal(evenMoments(0.1, 30_000).length, 3);
  assert.equal(evenMoments(1 / 3, 9000).length, 3);
});

test('the shares of several processes contain each send once', () => {
  for (const moments of [evenMoments(100, 1010), evenMoments(7, 1000), evenMoments(1, 2000), randomMoments(100, 1010, 3)]) {
    for (const turns of [3, 4, 5, 7]) {
      const shares = [0, 1, 2].map((index) => new Schedule(moments, index, 3, turns));
      const all = shares.flatMap((share) => Array.from({ length: share.count }, (_, i) => [share.place(i), share.dueMs(i)]));
      assert.deepEqual(all.sort(([one], [other]) => one - other), [...moments].map((moment, k) => [k, moment]));
      shares.forEach((share, index) => {
        const places = Array.from({ length: share.count }, (_, i) => share.place(i));
        assert.ok(places.every((place) => (place % turns) % 3 === index)); // each process sends the turns of its own rooms
      });
    }
  }
});

test('after the settling time, the slices contain each send once', () => {
  for (const arrivalSeed of [null, 7]) {
    const slices = [0, 300, 600, 900].map((fromMs) => {
      const part = { fromMs, ofMs: 1200 };
      return { start: 0, settleMs: 100, durationMs: 300, arrivalSeed, settling: { fromMs: 0, ofMs: 100 }, measured: part };
    });
    const job = { rate: 50, timesMs: null, index: 0, processes: 1 };
    const moments = slices.flatMap((slice) => {
      const schedule = scheduleOf(job, slice);
      const settled = Array.from({ length: schedule.count }, (_, i) => schedule.dueMs(i) - 100).filter((due) => due >= 0);
      assert.equal(schedule.count - settled.length, 5);
      return settled.map((due) => due + slice.measured.fromMs);
    });
    const whole = arrivalSeed === null ? evenMoments(50, 1200) : randomMoments(50, 1200, arrivalSeed);
    moments.forEach((moment, k) => assert.ok(Math.abs(moment - whole[k]) < 1e-6));
    assert.equal(moments.length, 60);
  }
});

test('random moments are in order, within the duration, as many as even moments, and set by the whole seed', () => {
  const moments = randomMoments(300, 10_000, 7);
  assert.equal(moments.length, 3000);
  assert.ok(moments.every((moment, k) => moment >= (moments[k - 1] ?? 0) && moment < 10_000));
  assert.deepEqual(randomMoments(300, 10_000, 7), moments);
  assert.notDeepEqual(randomMoments(300, 10_000, 8), moments);
  assert.notDeepEqual(randomMoments(300, 10_000, 7 + 2 ** 31), moments);
});

test('moments follow a Poisson process: the spread of gaps and counts equals their mean', () => {
  const moments = randomMoments(1000, 100_000, 2016);
  const gaps = Array.from(moments, (moment, k) => moment - (moments[k - 1] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  assert.ok(Math.abs(mean - 1) < 0.001);
  assert.ok(Math.abs(variance - 1) < 0.03); // the standard error of the variance is 0.9%
  const counts = new Array(1000).fill(0);
  moments.forEach((moment) => counts[Math.floor(moment / 100)]++);
  const spread = counts.reduce((sum, count) => sum + (count - 100) ** 2, 0) / counts.length;
  assert.ok(spread > 85 && spread < 115, `${spread}`); // expected: 100, with a standard error of 4.5
});
