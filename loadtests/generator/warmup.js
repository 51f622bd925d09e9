// Runs the engine for a moment against a server within this process, so that the JIT compiler's work and the first
// use of every code path do not show as response time of the first requests of the server under test.

import { once } from 'node:events';
import { createServer } from 'node:net';

import { nowMs } from './clock.js';
import { openloop } from './openloop.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { Job } from './job.js' */

const EACH_MS = 200;
const PACED_RATE = 6000;
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK';

export async function warmUp() {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('data', () => socket.write(ANSWER));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  /** @type {Job} */
  const job = {
    engine: 'openloop',
    origin: `http://127.0.0.1:${port}`,
    requests: [{ method: 'GET', path: '/', headers: [], body: null, status: 200, expectBody: null }],
    order: Buffer.from(Uint16Array.of(0).buffer).toString('base64'),
    timesMs: null,
    rate: null,
    connections: 8,
    durationMs: EACH_MS,
    warmUpMs: 0,
    timeoutMs: 1000,
    index: 0,
    of: 1,
    keepAlive: true,
  };
  const paces = [
    { rate: null },
    { rate: null, keepAlive: false }, // as with a server that closes each connection
    { rate: PACED_RATE },
  ];
  for (const pace of paces) {
    const load = openloop({ ...job, ...pace }, () => {});
    await load.ready();
    await load.start(nowMs());
  }
  server.close();
}
