import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Server, made } from './simulated.js';

/** Return the times at which each connection was used. The server's pause at the start causes the load to open all
 * ten connections. */
function uses(rate, wholeMs) {
  const server = new Server({ eachMs: 1, pauseMs: 15_000 / rate, every: 20, random: false });
  server.next = () => Infinity; // a single pause
  made(server, { rate, wholeMs, sliceMs: wholeMs, settleMs: 0 });
  assert.equal(server.connections.length, 10);
  return server.connections.map(({ sends }) => sends);
}

test('connections of an open loop take turns', () => {
  const counts = uses(100, 20_000).map((sends) => sends.length);
  assert.ok(Math.min(...counts) > 190 && Math.max(...counts) < 230, `${counts}`);
});

test('a connection is not used after a long idle time', () => {
  const rested = uses(2, 60_000).flatMap((sends) => sends.slice(1).map((at, place) => at - sends[place]));
  const late = rested.filter((ms) => ms > 4000);
  assert.ok(late.length <= 10, `${late}`); // the ten connections that the pause opened
});
