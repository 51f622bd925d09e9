import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';

import { nowMs } from '../../loadtests/generator/clock.js';
import { ReadDelay } from '../../loadtests/generator/read_delay.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** @param {number} ms */
function work(ms) {
  for (const end = nowMs() + ms; nowMs() < end; );
}

test('what is read in one turn may have lain there since the turn began', async () => {
  const delay = new ReadDelay();
  delay.begin();
  const began = delay.since;
  work(5);
  delay.begin(); // the next one that this turn found
  assert.equal(delay.since, began);
  assert.ok(delay.waited(nowMs()) >= 5);
});

test('what the next turn reads may have come while this one was dealt with', async () => {
  const delay = new ReadDelay();
  delay.begin();
  const began = delay.since;
  work(5);
  await turn();
  delay.begin();
  assert.equal(delay.since, began);
  await turn();
  delay.begin();
  assert.ok(delay.since >= began + 5); // since the second turn began
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

test('a reader that is kept from reading sees it in what it reads next', async () => {
  const delay = new ReadDelay();
  const server = createServer((socket) => socket.end('x'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const lain = [];
  const read = () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('data', () => {
      delay.begin();
      lain.push(delay.waited(nowMs()));
      work(30);
    });
    return once(socket, 'close');
  };
  await Promise.all(Array.from({ length: 5 }, read));
  server.close();
  assert.equal(lain.length, 5);
  assert.ok(Math.max(...lain) >= 30, `${lain}`);
});
