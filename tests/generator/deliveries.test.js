import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { Deliveries } from '../../loadtests/generator/deliveries.js';

const MS = 1000; // microseconds

/**
 * Messages 0, 1, 2, ... of the stream 'a' to the receiver 1, of which message k is due at 100 k.
 *
 * @param {number} count
 */
function expecting(count) {
  const deliveries = new Deliveries();
  for (let number = 0; number < count; number++) {
    deliveries.expect(1, 'a', number, 100 * number);
  }
  return deliveries;
}

const CLEAN = { missing: 0, duplicate: 0, reordered: 0 };

/** @param {Deliveries} deliveries */
function counts(deliveries) {
  const { expected, delivered, missing, duplicate, reordered } = deliveries.measured();
  return { expected, delivered, missing, duplicate, reordered };
}

for (const [behaviour, expected, arrivals, counted] of [
  ['what is expected is missing until it arrives', 3, [0, 1], { delivered: 2, missing: 1 }],
  ['the late one is reordered, not those that overtook it', 4, [1, 2, 0, 3], { delivered: 4, reordered: 1 }],
  ['what comes again is a duplicate, neither delivered nor reordered', 2, [0, 1, 0, 0], { delivered: 2, duplicate: 2 }],
  ['a duplicate fills no hole', 2, [1, 1], { delivered: 1, missing: 1, duplicate: 1 }],
]) {
  test(behaviour, () => {
    const deliveries = expecting(expected);
    arrivals.forEach((number) => deliveries.arrived(1, 'a', number, 900));
    assert.deepEqual(counts(deliveries), { ...CLEAN, expected, ...counted });
  });
}

test('the lag is from the intended send to the first arrival', () => {
  const deliveries = expecting(3);
  [[0, 5], [2, 208], [0, 900]].forEach(([number, at]) => deliveries.arrived(1, 'a', number, at));
  const { lag } = deliveries.measured();
  assert.deepEqual([lag.max_us, lag.sum_us], [8 * MS, 13 * MS]);
});

test('nothing expected, nothing arrived: zeros', () => {
  const { lag, last, reading, backlog, of_messages, ...counted } = new Deliveries().measured();
  assert.equal(of_messages, null);
  assert.deepEqual([new Set(Object.values(counted)), backlog], [new Set([0]), []]);
  for (const times of [lag, last, reading]) {
    assert.deepEqual([times.max_us, times.sum_us], [0, 0]);
  }
});

test('streams have no order among each other, and receivers count each for itself', () => {
  const deliveries = new Deliveries();
  for (const [receiver, stream, number] of [['x', 'a', 7], ['x', 'b', 3], ['y', 'a', 7], ['z', 'a', 7]]) {
    deliveries.expect(receiver, stream, number, 0);
  }
  [['x', 'a', 7], ['x', 'b', 3], ['z', 'a', 7]].forEach(([...arrival]) => deliveries.arrived(...arrival, 1));
  assert.deepEqual(counts(deliveries), { ...CLEAN, expected: 4, delivered: 3, missing: 1 });
});

test('an arrival may come before it is expected', () => {
  const deliveries = new Deliveries();
  [1, 0, 1].forEach((number, k) => deliveries.arrived(1, 'a', number, 200 + k));
  assert.deepEqual(counts(deliveries), { ...CLEAN, expected: 0, delivered: 0 });
  deliveries.expect(1, 'a', 0, 190);
  deliveries.expect(1, 'a', 1, 195);
  assert.deepEqual(counts(deliveries), { expected: 2, delivered: 2, missing: 0, duplicate: 1, reordered: 1 });
  assert.deepEqual([deliveries.lag.max, deliveries.lag.sum], [11 * MS, 16 * MS]);
});

test('what was under way when a receiver joined is counted nowhere', () => {
  const deliveries = new Deliveries();
  deliveries.expect(1, 'a', 5, 0);
  [3, 4, 4, 5].forEach((number) => deliveries.arrived(1, 'a', number, 1));
  assert.deepEqual(counts(deliveries), { ...CLEAN, expected: 1, delivered: 1 });
});

test('a number that does not follow the one before is a mistake of the protocol', () => {
  assert.throws(() => expecting(2).expect(1, 'a', 3, 0), /stream a, receiver 1: 3 is expected after 1/);
});

/** Numbers from 0 to below 1, the same in each run (a linear congruential generator). */
function chance(seed = 1) {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

test('counts are exact, whatever is lost, repeated and out of order', () => {
  const random = chance();
  for (let round = 0; round < 50; round++) {
    const deliveries = new Deliveries();
    const events = [];
    for (let k = 0; k < 400; k++) {
      const [receiver, stream, number] = [k % 2, (k >> 1) % 2, k >> 2];
      events.push({ at: k, tell: true, receiver, stream, number });
      const copies = random() < 0.2 ? 0 : random() < 0.2 ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        events.push({ at: k - 3 + 20 * random(), tell: false, receiver, stream, number });
      }
    }
    events.sort((a, b) => a.at - b.at);

    const counted = { expected: 0, delivered: 0, missing: 0, duplicate: 0, reordered: 0 };
    let lag_us = 0;
    /** @type {Map<string, number[]>} */
    const come = new Map([0, 1, 2, 3].map((k) => [`${k % 2} ${k >> 1}`, []]));
    for (const { at, tell, receiver, stream, number } of events) {
      const before = /** @type {number[]} */ (come.get(`${receiver} ${stream}`));
      if (tell) {
        deliveries.expect(receiver, stream, number, 1000 + at - 10);
        counted.expected++;
      } else {
        deliveries.arrived(receiver, stream, number, 1000 + at);
        if (before.includes(number)) {
          counted.duplicate++;
        } else {
          counted.delivered++;
          counted.reordered += before.some((other) => other > number) ? 1 : 0;
          const intended = (number << 2) + (stream << 1) + receiver - 10;
          lag_us += Math.round((at - intended) * MS);
        }
        before.push(number);
      }
    }
    let underWay = 0;
    for (const numbers of come.values()) {
      underWay += 99 - Math.max(-1, ...numbers); // of 100 numbers each: those after the last that came
    }
    assert.equal(deliveries.underWay, underWay);
    counted.missing = counted.expected - counted.delivered;
    assert.deepEqual(counts(deliveries), counted);
    assert.ok(Math.abs(deliveries.measured().lag.sum_us - lag_us) <= counted.delivered); // halves of a microsecond
    assert.ok(counted.missing > 0 && counted.duplicate > 0 && counted.reordered > 0);
  }
});

test('what has arrived takes no memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const deliveries = new Deliveries();
  /** @param {number} from @param {number} to */
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
  assert.ok(bytes < 500_000, `${bytes} bytes more after 500,000 deliveries`); // one byte of each
  assert.deepEqual([deliveries.delivered, deliveries.missing], [50 * 11_988, 50 * 12]);
});

test('what an earlier slice lost is waited for no longer, and may still come', () => {
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

test('what was withdrawn is not expected, and an arrival of it is counted only if it was there first', () => {
  const deliveries = expecting(3);
  deliveries.arrived(1, 'a', 1, 105);
  [1, 2].forEach((number) => deliveries.withdraw(1, 'a', number));
  assert.deepEqual(counts(deliveries), { expected: 2, delivered: 1, missing: 1, duplicate: 0, reordered: 0 });
  deliveries.arrived(1, 'a', 2, 205);
  deliveries.expect(1, 'a', 3, 300);
  deliveries.arrived(1, 'a', 3, 306);
  assert.deepEqual(counts(deliveries), { expected: 3, delivered: 2, missing: 1, duplicate: 0, reordered: 0 });
});

test('those under way are missing, and nothing later has come', () => {
  const deliveries = expecting(5);
  assert.equal(deliveries.underWay, 5);
  deliveries.arrived(1, 'a', 2, 205); // 0 and 1 are lost, or late
  assert.equal(deliveries.underWay, 2);
  deliveries.arrived(1, 'a', 0, 206);
  deliveries.withdraw(1, 'a', 3);
  assert.equal(deliveries.underWay, 1);
  deliveries.arrived(1, 'a', 2 ** 50, 207);
  assert.deepEqual([deliveries.underWay, deliveries.missing], [0, 2]);
});

test('what a lost receiver lacks stays missing, and is not waited for', () => {
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

/**
 * A message of the stream 'a', due at 100 times its number, that is meant for the receivers from 1 on.
 *
 * @param {Deliveries} deliveries
 * @param {number} number
 * @param {number} receivers
 */
function publish(deliveries, number, receivers) {
  deliveries.lastReceivers.expect('a', number, 100 * number, receivers);
  for (let receiver = 1; receiver <= receivers; receiver++) {
    deliveries.expect(receiver, 'a', number, 100 * number);
  }
}

test('a message is whole when the last of its receivers has it, for the first time', () => {
  const deliveries = new Deliveries();
  [0, 1].forEach((number) => publish(deliveries, number, 3));
  [2, 3, 2].forEach((receiver) => deliveries.arrived(receiver, 'a', 0, 10 * receiver));
  assert.deepEqual([deliveries.lastReceivers.messages, deliveries.lastReceivers.whole], [2, 0]);
  deliveries.arrived(1, 'a', 0, 70);
  deliveries.loseReceiver(2);
  const { messages, whole, last } = deliveries.measured();
  assert.deepEqual([messages, whole, last.max_us, last.sum_us], [2, 1, 70 * MS, 70 * MS]);
});

test('a message that was withdrawn was meant for nobody', () => {
  const deliveries = new Deliveries();
  [0, 1].forEach((number) => publish(deliveries, number, 2));
  [1, 7].forEach((number) => deliveries.lastReceivers.withdraw('a', number));
  [1, 2].forEach((receiver) => deliveries.arrived(receiver, 'a', 0, 9));
  assert.deepEqual([deliveries.lastReceivers.messages, deliveries.lastReceivers.whole], [1, 1]);
});

test('each delivery has how long it may have lain in the generator', () => {
  const deliveries = new Deliveries((at) => at / 10);
  publish(deliveries, 0, 2);
  [[1, 20], [2, 50], [2, 90]].forEach(([receiver, at]) => deliveries.arrived(receiver, 'a', 0, at));
  const { reading } = deliveries.measured();
  assert.deepEqual([reading.max_us, reading.sum_us], [5 * MS, 7 * MS]);
});
