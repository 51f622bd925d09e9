import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nowMs } from '../../loadtests/generator/clock.js';
import { ReadDelay } from '../../loadtests/generator/read_delay.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

function work(ms) {
  for (const end = nowMs() + ms; nowMs() < end; );
}

test('what is read may have lain there since its turn began, or the one before where that read as well', async () => {
  const delay = new ReadDelay();
  delay.begin();
  const began = delay.since;
  work(5);
  delay.begin(); // the next event of this turn
  assert.equal(delay.since, began);
  assert.ok(delay.waited(nowMs()) >= 5);
  await turn();
  delay.begin(); // it may have come while the turn before was dealt with
  assert.equal(delay.since, began);
  await turn();
  delay.begin();
  assert.ok(delay.since >= began + 5); // since the start of the second turn
});

test('where a turn read nothing, what is read after it has just come', async () => {
  const delay = new ReadDelay();
  delay.begin();
  await turn();
  await turn();
  await turn();
  const before = nowMs();
  delay.begin();
  assert.ok(delay.since >= before);
});
