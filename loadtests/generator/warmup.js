// Run the engine for a moment against a server in this process. Otherwise, the JIT compiler's work and the first use of
// each code path would increase the response times of the first requests to the server under test.

import { nowMs } from './clock.js';
import { openloop } from './openloop.js';

/** @import { Job, Protocol } from './types.ts' */

const PACES = [
  { rate: null },
  { rate: null, keepAlive: false }, // a closed loop that closes each connection after its answer
  { rate: 6000 },
];

/**
 * @param {Protocol} protocol
 * @param {Job} job the job to warm up for
 */
export async function warmUp(protocol, job) {
  const server = await protocol.answering(job);
  const quick = {
    ...job,
    origin: server.origin,
    requests: [server.request],
    order: Buffer.from(Uint16Array.of(0).buffer).toString('base64'),
    timesMs: null,
    connections: 8,
    silent: 0,
    timeoutMs: 1000,
    index: 0,
    processes: 1,
    turns: 1,
    keepAlive: true,
    conversation: server.conversation ?? null,
    streams: [],
  };
  for (const pace of PACES) {
    const load = openloop(protocol, { ...quick, ...pace }, () => {});
    await load.ready();
    const whole = { fromMs: 0, ofMs: job.compileMs };
    const slice = { settleMs: 0, durationMs: job.compileMs, graceMs: job.compileMs, arrivalSeed: null };
    await load.run({ start: nowMs(), ...slice, settling: whole, measured: whole });
    load.close();
    await load.ended();
  }
  server.close();
}
