import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { protocol } from '../../loadtests/generator/protocols/http2.js';

const MEBIBYTE = 2 ** 20;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** Send a request that is answered with these chunks. Return its outcome and the bytes of the body in memory. */
async function answered(chunks, expected) {
  const server = createServer((_, response) => Readable.from(chunks).pipe(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const job = { origin: `http://127.0.0.1:${server.address().port}`, idleMs: 60_000 };
  const pool = await protocol.openPool(job);
  const exchange = protocol.exchange({
    path: '/', method: 'GET', headers: [], body: null, status: 200, closes: false, expectBody: expected.toString('base64'),
  });
  const end = await new Promise((resolve) => {
    const over = (kind) => {
      collectGarbage();
      resolve([kind, process.memoryUsage().arrayBuffers]);
    };
    const owner = { counts: () => true, onSent() {}, onOk: () => over('ok'), onFailed: (_, at, { kind }) => over(kind) };
    protocol.connect(job, owner, pool).send(exchange, 0);
  });
  pool.close();
  server.close();
  return end;
}

function* many(count) {
  for (let k = 0; k < count; k++) {
    yield Buffer.alloc(MEBIBYTE);
  }
}

test('a body is compared in chunks', async () => {
  const parts = ['right', ' and ', 'whole'].map((text) => Buffer.from(text));
  const found = await Promise.all(['right and whole', 'right and while', 'right', 'right and whole!', ''].map(
    async (text) => (await answered(parts, Buffer.from(text)))[0],
  ));
  assert.deepEqual(found, ['ok', ...Array(4).fill('wrong-body')]);
});

test('a large body is not kept', async () => {
  const [kind, bytes] = await answered(many(128), Buffer.from('OK'));
  assert.equal(kind, 'wrong-body');
  assert.ok(bytes < 64 * MEBIBYTE, `${bytes} bytes`);
});
