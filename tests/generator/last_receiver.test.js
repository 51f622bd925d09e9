import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Deliveries } from '../../loadtests/generator/deliveries.js';

const MS = 1000; // microseconds

/**
 * A message of the stream 'a' that is due at 100 times its number, meant for so many receivers from 1 on.
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

test('a message is whole when the last of its receivers has it', () => {
  const deliveries = new Deliveries();
  publish(deliveries, 0, 3);
  [2, 3].forEach((receiver) => deliveries.arrived(receiver, 'a', 0, 10 * receiver));
  assert.deepEqual([deliveries.lastReceivers.messages, deliveries.lastReceivers.whole], [1, 0]);
  deliveries.arrived(1, 'a', 0, 70);
  const { messages, whole, last } = deliveries.measured();
  assert.deepEqual([messages, whole, last.max_us, last.sum_us], [1, 1, 70 * MS, 70 * MS]);
});

test('what comes twice is not another receiver, and what never comes leaves a message open', () => {
  const deliveries = new Deliveries();
  publish(deliveries, 0, 2);
  publish(deliveries, 1, 2);
  [5, 6, 7].forEach((at) => deliveries.arrived(1, 'a', 0, at));
  [1, 2].forEach((receiver) => deliveries.arrived(receiver, 'a', 1, 100 + receiver));
  deliveries.loseReceiver(2);
  const { messages, whole, last } = deliveries.measured();
  assert.deepEqual([messages, whole, last.max_us], [2, 1, 2 * MS]);
});

test('a message that was withdrawn was meant for nobody', () => {
  const deliveries = new Deliveries();
  publish(deliveries, 0, 2);
  publish(deliveries, 1, 2);
  deliveries.lastReceivers.withdraw('a', 1);
  deliveries.lastReceivers.withdraw('a', 7);
  [1, 2].forEach((receiver) => deliveries.arrived(receiver, 'a', 0, 9));
  const { messages, whole } = deliveries.measured();
  assert.deepEqual([messages, whole], [1, 1]);
});

test('each delivery has how long it may have lain in the generator', () => {
  const deliveries = new Deliveries((at) => at / 10);
  publish(deliveries, 0, 2);
  deliveries.arrived(1, 'a', 0, 20);
  deliveries.arrived(2, 'a', 0, 50);
  deliveries.arrived(2, 'a', 0, 90);
  const { reading } = deliveries.measured();
  assert.deepEqual([reading.max_us, reading.sum_us], [5 * MS, 7 * MS]);
});
