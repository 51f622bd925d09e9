import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Deliveries } from '../../loadtests/generator/deliveries.js';

const MS = 1000; // microseconds
const STREAM = 9;

/** Expect a message at receivers 1, 2, 3, ... Message k is due at 100 ms × k. */
function publish(deliveries, number, receivers = 1) {
  const names = Array.from({ length: receivers }, (_, k) => ({ name: k + 1 }));
  deliveries.expect(names, STREAM, number, 100 * number);
}

/** Expect messages 0, 1, 2, ... at receiver 1. */
function expecting(count) {
  const deliveries = new Deliveries();
  for (let number = 0; number < count; number++) {
    publish(deliveries, number);
  }
  return deliveries;
}

test('messages sent before a receiver joined don\'t count', () => {
  const deliveries = new Deliveries();
  deliveries.arrived(1, STREAM, 4, 1);
  publish(deliveries, 5);
  [3, 4, 4, 5, 5].forEach((number) => deliveries.arrived(1, STREAM, number, 510));
  const { expected, delivered, missing, duplicate, reordered } = deliveries.measured();
  assert.deepEqual([expected, delivered, missing, duplicate, reordered], [1, 1, 0, 1, 0]);
});

test('messages lost in an earlier slice aren\'t awaited, but count if they arrive', () => {
  const deliveries = expecting(3);
  deliveries.arrived(1, STREAM, 0, 5);
  assert.equal(deliveries.awaited, 2);
  deliveries.begin(290, 300, 305);
  publish(deliveries, 3);
  deliveries.arrived(1, STREAM, 1, 305);
  assert.deepEqual([deliveries.awaited, deliveries.measured().missing], [1, 2]);
  deliveries.arrived(1, STREAM, 3, 306);
  assert.deepEqual([deliveries.awaited, deliveries.measured().missing], [0, 1]);
  assert.deepEqual([deliveries.lag.max, deliveries.inTime], [205 * MS, 2]); // the last arrival is late
});

test('a message is outstanding until it or a later message arrives', () => {
  const deliveries = expecting(5);
  assert.equal(deliveries.underWay, 5);
  deliveries.arrived(1, STREAM, 2, 205); // messages 0 and 1 are lost or late
  assert.equal(deliveries.underWay, 2);
  deliveries.arrived(1, STREAM, 0, 206);
  assert.deepEqual([deliveries.underWay, deliveries.reordered, deliveries.awaited], [2, 1, 3]);
});

test('messages to a lost receiver stay missing, and aren\'t awaited', () => {
  const deliveries = new Deliveries();
  publish(deliveries, 0, 2);
  deliveries.begin(100);
  publish(deliveries, 1, 2);
  deliveries.loseReceiver(1);
  publish(deliveries, 2, 2);
  assert.deepEqual([deliveries.awaited, deliveries.underWay, deliveries.measured().missing], [2, 3, 6]);
});

test('a message is whole when the last receiver first receives it', () => {
  const deliveries = new Deliveries((at) => at / 10);
  [0, 1].forEach((number) => publish(deliveries, number, 3));
  deliveries.expect([], STREAM, 2, 200);
  [2, 3, 2].forEach((receiver) => deliveries.arrived(receiver, STREAM, 0, 10 * receiver));
  assert.deepEqual([deliveries.messages, deliveries.whole], [2, 0]);
  deliveries.arrived(1, STREAM, 0, 70);
  const { whole, last, reading } = deliveries.measured();
  assert.deepEqual([whole, last.max_us, last.sum_us], [1, 70 * MS, 70 * MS]);
  assert.deepEqual([reading.max_us, reading.sum_us], [7 * MS, 12 * MS]);
});

test('the number of outstanding messages may vary without growing', () => {
  const deliveries = new Deliveries();
  deliveries.begin(0, 0, 1000);
  const levels = [0, 2, 9, 4, 1, 8, 3, 12]; // the last eighth is far above the first eighth
  let next = 0;
  levels.forEach((level, eighth) => {
    while (deliveries.underWay < level) {
      publish(deliveries, next++);
    }
    if (deliveries.underWay > level) {
      deliveries.arrived(1, STREAM, next - 1 - level, 0);
    }
    deliveries.look(125 * eighth);
  });
  deliveries.end(1000);
  deliveries.begin(2000, 2000, 3000);
  deliveries.end(2900); // a stopped slice has no backlog
  assert.deepEqual(deliveries.backlog, [4 * (3 - 9)]);
});
