import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { Deliveries } from '../../loadtests/generator/deliveries.js';

const MS = 1000; // microseconds

/** Expect messages 0, 1, 2, ... of the stream 'a' at receiver 1. Message k is due at 100 ms × k. */
function expecting(count) {
  const deliveries = new Deliveries();
  for (let number = 0; number < count; number++) {
    deliveries.expect(1, 'a', number, 100 * number);
  }
  return deliveries;
}

function counts(deliveries) {
  const { expected, delivered, missing, duplicate, reordered } = deliveries.measured();
  return { expected, delivered, missing, duplicate, reordered };
}

test('messages sent before a receiver joined don\'t count', () => {
  const deliveries = new Deliveries();
  deliveries.expect(1, 'a', 5, 0);
  [3, 4, 4, 5].forEach((number) => deliveries.arrived(1, 'a', number, 1));
  assert.deepEqual(counts(deliveries), { expected: 1, delivered: 1, missing: 0, duplicate: 0, reordered: 0 });
});

test('a number that does not follow the previous number breaks the protocol', () => {
  assert.throws(() => expecting(2).expect(1, 'a', 3, 0), /stream a, receiver 1: number 3 can't follow 1/);
});

test('a message may arrive before it is expected', () => {
  const deliveries = new Deliveries();
  [1, 0, 1].forEach((number, k) => deliveries.arrived(1, 'a', number, 200 + k));
  assert.deepEqual(counts(deliveries), { expected: 0, delivered: 0, missing: 0, duplicate: 0, reordered: 0 });
  deliveries.expect(1, 'a', 0, 190);
  deliveries.expect(1, 'a', 1, 195);
  assert.deepEqual(counts(deliveries), { expected: 2, delivered: 2, missing: 0, duplicate: 1, reordered: 1 });
  assert.deepEqual([deliveries.lag.max, deliveries.lag.sum], [11 * MS, 16 * MS]);
});

test('messages that have arrived use no memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const deliveries = new Deliveries();
  const deliver = (from, to) => {
    for (let number = from; number < to; number++) {
      for (let receiver = 0; receiver < 50; receiver++) {
        deliveries.expect(receiver, 'a', number, number);
        if (number % 1000 !== 500) {
          deliveries.arrived(receiver, 'a', number, number + 0.5);
        }
      }
    }
  };
  deliver(0, 2000);
  collect();
  const before = process.memoryUsage().heapUsed;
  deliver(2000, 12_000);
  collect();
  const bytes = process.memoryUsage().heapUsed - before;
  assert.ok(bytes < 500_000, `${bytes} bytes more after 500,000 deliveries`); // one byte for each message
  assert.deepEqual([deliveries.delivered, deliveries.missing], [50 * 11_988, 50 * 12]);
});

test('messages lost in an earlier slice aren\'t awaited, but count if they arrive', () => {
  const deliveries = expecting(3);
  deliveries.arrived(1, 'a', 0, 5);
  assert.equal(deliveries.awaited, 2);
  deliveries.begin(300);
  assert.deepEqual([deliveries.awaited, deliveries.missing], [0, 2]);
  deliveries.expect(1, 'a', 3, 300);
  assert.deepEqual([deliveries.awaited, deliveries.missing], [1, 3]);
  deliveries.arrived(1, 'a', 1, 305);
  assert.deepEqual([deliveries.awaited, deliveries.missing], [1, 2]);
  deliveries.arrived(1, 'a', 3, 306);
  assert.deepEqual([deliveries.awaited, deliveries.missing], [0, 1]);
  assert.equal(deliveries.lag.max, 205 * MS);
});

test('a withdrawn message isn\'t expected, and counts only if it had already arrived', () => {
  const deliveries = expecting(3);
  deliveries.arrived(1, 'a', 1, 105);
  [1, 2].forEach((number) => deliveries.withdraw(1, 'a', number));
  assert.deepEqual(counts(deliveries), { expected: 2, delivered: 1, missing: 1, duplicate: 0, reordered: 0 });
  deliveries.arrived(1, 'a', 2, 205);
  deliveries.expect(1, 'a', 3, 300);
  deliveries.arrived(1, 'a', 3, 306);
  assert.deepEqual(counts(deliveries), { expected: 3, delivered: 2, missing: 1, duplicate: 0, reordered: 0 });
});

test('a message is outstanding until it or a later message arrives', () => {
  const deliveries = expecting(5);
  assert.equal(deliveries.underWay, 5);
  deliveries.arrived(1, 'a', 2, 205); // messages 0 and 1 are lost or late
  assert.equal(deliveries.underWay, 2);
  deliveries.arrived(1, 'a', 0, 206);
  deliveries.withdraw(1, 'a', 3);
  assert.equal(deliveries.underWay, 1);
  deliveries.arrived(1, 'a', 2 ** 50, 207);
  assert.deepEqual([deliveries.underWay, deliveries.missing], [0, 2]);
});

test('messages to a lost receiver stay missing, and aren\'t awaited', () => {
  const deliveries = expecting(2);
  deliveries.expect(2, 'a', 0, 0);
  deliveries.begin(200);
  deliveries.expect(1, 'a', 2, 200);
  deliveries.expect(2, 'a', 1, 200);
  assert.deepEqual([deliveries.awaited, deliveries.underWay], [2, 5]);
  deliveries.loseReceiver(1);
  assert.deepEqual([deliveries.awaited, deliveries.underWay], [1, 2]);
  deliveries.expect(1, 'a', 3, 300);
  assert.deepEqual([deliveries.awaited, deliveries.underWay, deliveries.missing], [1, 2, 6]);
  deliveries.withdraw(1, 'a', 3);
  deliveries.arrived(2, 'a', 1, 305);
  assert.deepEqual([deliveries.awaited, deliveries.underWay, deliveries.missing], [0, 0, 4]);
});

/** Send a message of the stream 'a' to receivers 1, 2, 3, ... Message k is due at 100 ms × k. */
function publish(deliveries, number, receivers) {
  deliveries.publish(Array.from({ length: receivers }, (_, k) => ({ name: k + 1 })), 'a', number, 100 * number);
}

test('a message is complete when the last receiver first receives it', () => {
  const deliveries = new Deliveries();
  [0, 1, 2].forEach((number) => publish(deliveries, number, 3));
  [2, 7].forEach((number) => deliveries.lastReceivers.withdraw('a', number)); // without a receiver
  [2, 3, 2].forEach((receiver) => deliveries.arrived(receiver, 'a', 0, 10 * receiver));
  assert.deepEqual([deliveries.lastReceivers.messages, deliveries.lastReceivers.whole], [2, 0]);
  deliveries.arrived(1, 'a', 0, 70);
  deliveries.loseReceiver(2);
  const { messages, whole, last } = deliveries.measured();
  assert.deepEqual([messages, whole, last.max_us, last.sum_us], [2, 1, 70 * MS, 70 * MS]);
});

test('each delivery records how long it may have waited in the generator', () => {
  const deliveries = new Deliveries((at) => at / 10);
  publish(deliveries, 0, 2);
  [[1, 20], [2, 50], [2, 90]].forEach(([receiver, at]) => deliveries.arrived(receiver, 'a', 0, at));
  const { reading } = deliveries.measured();
  assert.deepEqual([reading.max_us, reading.sum_us], [5 * MS, 7 * MS]);
});

test('a stopped slice and a warm-up slice have no backlog', () => {
  const deliveries = new Deliveries();
  deliveries.begin(0, 100, 1100);
  deliveries.end(900);
  deliveries.begin(2000, 2100, 2100);
  deliveries.end(2100);
  assert.deepEqual(deliveries.backlog, []);
});

test('the number of outstanding messages may vary without growing', () => {
  const deliveries = new Deliveries();
  deliveries.begin(0, 0, 1000);
  const levels = [0, 2, 9, 4, 1, 8, 3, 12]; // the last eighth is far above the first eighth
  let next = 0;
  levels.forEach((level, eighth) => {
    while (deliveries.underWay < level) {
      deliveries.expect(1, 'a', next++, 0);
    }
    if (deliveries.underWay > level) {
      deliveries.arrived(1, 'a', next - 1 - level, 0);
    }
    deliveries.look(125 * eighth);
  });
  deliveries.end(1000);
  assert.deepEqual(deliveries.backlog, [4 * (3 - 9)]);
});
