import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { protocol } from '../../loadtests/generator/protocols/http.js';

const REQUEST = { method: 'GET', path: '/', headers: [], body: null, status: 200, expectBody: null, closes: false };

/** Send requests one after the other to a server that answers request k with `answer(k)`. Return the bytes that
 * each connection received. */
async function sent(requests, answer, keepAlive = true) {
  const connections = [];
  let answered = 0;
  const server = createServer((socket) => {
    const place = connections.push('') - 1;
    socket.on('error', () => {});
    socket.on('data', (data) => {
      connections[place] += data;
      socket.write(answer(answered++));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const job = { origin: `http://127.0.0.1:${server.address().port}`, keepAlive, idleMs: 4000 };
  const ends = [];
  await new Promise((resolve) => {
    const next = () => (ends.length < requests.length ? connection.send(exchanges[ends.length], 0) : resolve());
    const end = (how) => {
      ends.push(how);
      setImmediate(next);
    };
    const owner = { counts: () => true, onSent() {}, onOk: ({ how }) => end(how), onFailed: (_c, _at, { text }) => end(text) };
    const exchanges = requests.map((request) => protocol.exchange({ ...REQUEST, ...request }, job));
    const connection = protocol.connect(job, owner, null);
    next();
  });
  server.close();
  return { connections, ends };
}

const ok = (headers = '') => `HTTP/1.1 200 OK\r\n${headers}Content-Length: 0\r\n\r\n`;

test('connections are reused if the server keeps them open', async () => {
  const { connections, ends } = await sent(Array(10).fill({}), (k) => ok(k < 5 ? 'Connection: close\r\n' : ''));
  assert.deepEqual(ends, Array(10).fill(200));
  // The server closes five connections. The sixth connection shows that the server now keeps connections open, and the
  // seventh connection is reused.
  assert.deepEqual(connections.map((bytes) => bytes.split('GET').length - 1), [1, 1, 1, 1, 1, 1, 4]);
});

test('a request has the same bytes on a new connection', async () => {
  const requests = ['GET', 'POST'].flatMap((method) => [null, 'hello'].map((body) => (
    { method, headers: ['Host', 'example.org', 'X-Y', 'Z'], body: body && Buffer.from(body).toString('base64') }
  )));
  const kept = await sent(requests, () => ok());
  const { connections } = await sent(requests, () => ok(), false);
  assert.equal(connections.join('').replaceAll('connection: close', 'connection: keep-alive'), kept.connections.join(''));
});

test('stale answers and wrong answers are recognised', async () => {
  const answers = [ok('X-Stale: 1\r\n'), 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n', ok()];
  const { ends } = await sent([{}, {}, {}], (k) => answers[k], false);
  assert.deepEqual(ends, ['stale', "the answer's Content-Length is 'x' instead of a number", 200]);
});

test('users take turns, each with a cookie', async () => {
  const request = { headers: ['X-Y', 'Z'], cookies: ['s=1', 's=2'] };
  const { connections } = await sent([request], () => ok());
  const job = { origin: 'http://127.0.0.1:1', keepAlive: true };
  const { turns } = protocol.exchange({ ...REQUEST, ...request }, job);
  const cookies = [1, 2, 3].map(() => /\r\ncookie: (.*)\r\n/.exec(turns.take().head.toString())[1]);
  assert.match(connections[0], /X-Y: Z\r\ncookie: s=1\r\n/);
  assert.deepEqual(cookies, ['s=1', 's=2', 's=1']);
});

test('users share the body of a request', () => {
  const request = { method: 'POST', body: Buffer.alloc(1_000_000).toString('base64'), cookies: Array(50).fill('s=1') };
  const before = process.memoryUsage().arrayBuffers;
  const exchange = protocol.exchange({ ...REQUEST, ...request }, { origin: 'http://127.0.0.1:1', keepAlive: true });
  assert.equal(exchange.turns.prepared.length, 50);
  assert.ok(process.memoryUsage().arrayBuffers - before < 5_000_000);
});
