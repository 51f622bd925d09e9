import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { Readable } from 'node:stream';
import { test } from 'node:test';

import { protocol } from '../../loadtests/generator/protocols/http2.js';

/** Send a request that is answered with these chunks. Return its outcome. */
async function answered(chunks, expected) {
  const server = createServer((_, response) => Readable.from(chunks).pipe(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const job = { origin: `http://127.0.0.1:${server.address().port}`, idleMs: 60_000 };
  const pool = await protocol.openPool(job);
  const exchange = protocol.exchange({
    path: '/', method: 'GET', headers: [], body: null, status: 200, closes: false, expectBody: expected.toString('base64'),
  });
  const end = await new Promise((resolve) => {
    const owner = { counts: () => true, onSent() {}, onOk: () => resolve('ok'), onFailed: (_, at, { kind }) => resolve(kind) };
    protocol.connect(job, owner, pool).send(exchange, 0);
  });
  pool.close();
  server.close();
  return end;
}

test('a body is compared in chunks', async () => {
  const parts = ['right', ' and ', 'whole'].map((text) => Buffer.from(text));
  const found = await Promise.all(['right and whole', 'right and while', 'right', 'right and whole!', ''].map(
    (text) => answered(parts, Buffer.from(text)),
  ));
  assert.deepEqual(found, ['ok', ...Array(4).fill('wrong-body')]);
});
