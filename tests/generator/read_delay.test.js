import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nowMs } from '../../loadtests/generator/clock.js';
import { ReadDelay } from '../../loadtests/generator/read_delay.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

function work(ms) {
  for (const end = nowMs() + ms; nowMs() < end; );
}

test('data may have waited since this turn started, or since the previous turn if that turn read data', async () => {
  const delay = new ReadDelay();
  delay.begin();
  const began = delay.since;
  work(5);
  delay.begin(); // the next event in the same turn of the event loop
  assert.equal(delay.since, began);
  assert.ok(delay.waited(nowMs()) >= 5);
  await turn();
  delay.begin(); // the data may have arrived during the previous turn
  assert.equal(delay.since, began);
  await turn();
  delay.begin();
  assert.ok(delay.since >= began + 5); // since the start of the second turn
});

test('data that is read after a turn without data has just arrived', async () => {
  const delay = new ReadDelay();
  delay.begin();
  await turn();
  await turn();
  await turn();
  const before = nowMs();
  delay.begin();
  assert.ok(delay.since >= before);
});
