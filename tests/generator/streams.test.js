import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Endings, StreamTally } from '../../loadtests/generator/stream_tally.js';

/** Return the counts of a stream that was due at 1,000 ms and has four events at intervals of 50 ms. */
function one(arrivals, end = (tally, stream) => tally.ended(stream)) {
  const tally = new StreamTally(4, 50);
  const stream = tally.begin(1000);
  arrivals.forEach((at) => tally.came(stream, at));
  end(tally, stream);
  const { first, delay, reading, ...counts } = tally.counts();
  return { ...counts, firstUs: first.sum_us, delayUs: delay.sum_us, latestUs: delay.max_us };
}

test('the delay of an event is relative to the most punctual event', () => {
  const found = one([1030, 1070, 1120, 1190]); // 30, 20, 20 and 40 ms after the schedule, which starts at 1,000
  assert.equal(found.firstUs, 30_000);
  assert.equal(found.delayUs, (10 + 0 + 0 + 20) * 1000);
  assert.equal(found.latestUs, 20_000);
  assert.deepEqual([found.whole, found.events, found.missing], [1, 4, 0]);
});

test('only long overdue events of an abandoned stream are missing', () => {
  const givenUp = (at) => one([1000], (tally, stream) => tally.givenUp(stream, at)).missing;
  assert.deepEqual([1049, 1200, 2049, 2050, 2100, 9000].map(givenUp), [0, 0, 0, 1, 2, 3]);
});

test('a stream isn\'t broken if its client disconnects, and its events count', () => {
  const left = one([1000, 1050], (tally, stream) => tally.wasLeft(stream));
  assert.deepEqual([left.broken, left.cut, left.missing, left.events, left.delayUs], [0, 0, 0, 2, 0]);
});

test('the time that a view runs after its client disconnects is measured by the server\'s clock', () => {
  const endings = new Endings();
  [1, 2, 3, 4, 5].forEach((number) => endings.left(number, 1000 * number));
  endings.heard('1 0.5\n2 3\n9 1\n', 2900); // view 1 ended at 2,400, and view 2 before its client left
  endings.heard('1 0.6\n3 0.1\n4 -\n', 3200); // view 1 keeps its known end; view 3 ended 100 ms ago
  const { after, ...counts } = endings.counts();
  assert.deepEqual(counts, { clients: 5, ended: 3, running: 1, late: 2 });
  assert.deepEqual([after.max_us, after.sum_us], [1_400_000, 1_500_000]);
});

test('surplus events are counted, but their times aren\'t recorded', () => {
  const surplus = one([1000, 1050, 1100, 1150, ...Array(200_000).fill(1150)], (tally, stream) => tally.givenUp(stream, 9000));
  assert.deepEqual([surplus.events, surplus.cut, surplus.missing, surplus.delayUs], [200_004, 1, 0, 0]);
});
