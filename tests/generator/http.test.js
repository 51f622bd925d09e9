import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { protocol } from '../../loadtests/generator/protocols/http.js';

const REQUEST = { method: 'GET', path: '/', headers: [], body: null, status: 200, expectBody: null, closes: false };

/** Send requests one after the other to a server that answers request k with `answer(k)`. Return the bytes that
 * each connection received. */
async function sent(requests, answer, keepAlive = true, idleMs = 4000) {
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
  const job = { origin: `http://127.0.0.1:${server.address().port}`, keepAlive, idleMs };
  const ends = [];
  const connection = await new Promise((resolve) => {
    const next = () => (ends.length < requests.length ? connection.send(exchanges[ends.length], 0) : resolve(connection));
    const end = (how) => {
      ends.push(how);
      setImmediate(next);
    };
    const owner = { counts: () => true, onSent() {}, onOk: ({ how }) => end(how), onFailed: (_c, _at, { text }) => end(text) };
    const exchanges = requests.map((request) => protocol.exchange({ ...REQUEST, ...request }, job));
    const connection = protocol.connect(job, owner, null);
    next();
  });
  connection.destroy();
  server.close();
  return { connections, ends };
}

const ok = (headers = '') => `HTTP/1.1 200 OK\r\n${headers}Content-Length: 0\r\n\r\n`;

test('connections are reused if the server keeps them open', async () => {
  const { connections, ends } = await sent(Array(10).fill({}), (k) => ok(k < 5 ? 'Connection: close\r\n' : ''));
  assert.deepEqual(ends, Array(10).fill(200));
  assert.deepEqual(connections.map((bytes) => bytes.split('GET').length - 1), [1, 1, 1, 1, 1, 5]);
});

test('an idle connection is not used again', async () => {
  const { connections, ends } = await sent([{}, {}], () => ok(), true, 0);
  assert.deepEqual([connections.length, ends], [2, [200, 200]]);
});

test('a request is written with its headers and body', async () => {
  const headers = ['Host', 'example.org', 'X-Y', 'Z'];
  const { connections } = await sent([{ method: 'POST', headers, body: btoa('hello') }, {}], () => ok());
  const [host, origin] = ['example.org', '127.0.0.1:\\d+'].map((name) => `host: ${name}\r\nconnection: keep-alive\r\n`);
  const second = `GET / HTTP/1.1\r\n${origin}\r\n`;
  assert.match(connections[0], new RegExp(`^POST / HTTP/1.1\r\n${host}X-Y: Z\r\ncontent-length: 5\r\n\r\nhello${second}$`));
});

for (const [what, answer, count] of [
  ['more bytes than its length', `${ok()}EXTRA`, 2],
  ['several connection options', ok('Connection: TE, close\r\n'), 2],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', 2],
  ['HTTP/1.0 with keep-alive', 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n', 1],
]) {
  test(`after an answer with ${what}, ${count === 1 ? 'the' : 'another'} connection is used`, async () => {
    const { connections, ends } = await sent([{}, {}], () => answer);
    assert.deepEqual([connections.length, ends], [count, [200, 200]]);
  });
}

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
  const cookies = [1, 2, 3].map(() => /\r\ncookie: (.*)\r\n/.exec(turns.take().toString())[1]);
  assert.match(connections[0], /X-Y: Z\r\ncookie: s=1\r\n/);
  assert.deepEqual(cookies, ['s=1', 's=2', 's=1']);
});
