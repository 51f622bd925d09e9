// One process of load. On standard input, a line of JSON each: the job, then {"start": <milliseconds of the monotonic
// clock>}, then maybe {"stop": true}. On standard output likewise: {"event": "ready"} with the threads that need no
// priority, an event "second" for each second that is over, and "result". It ends when standard input is closed, so it
// cannot outlive its parent.

import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { nowMs } from './clock.js';

/** @import { Job, Running, Second } from './job.js' */
/** @import { Protocol } from './protocol.js' */

process.stdin.on('close', () => process.exit(0));
process.stdout.on('error', () => process.exit(1));

/** The threads that V8 has started by now, which compile and collect garbage: none of them has to be in time. */
const helpers = threads().filter((thread) => thread !== process.pid);

function threads() {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return []; // not Linux
  }
}

/** @param {object} event */
function tell(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

/**
 * The load of a job, after the engine has warmed up, and then the server under test.
 *
 * @param {Job} job
 * @returns {Promise<Running>}
 */
async function prepare(job) {
  const make = await engine(job);
  if (job.warmUpMs > 0) {
    const warmUp = make({ ...job, durationMs: job.warmUpMs, timesMs: null }, () => {});
    await warmUp.ready();
    await warmUp.start(nowMs());
  }
  return make(job, (second) => tell({ event: 'second', ...second }));
}

/**
 * @param {Job} job
 * @returns {Promise<(job: Job, onSecond: (second: Second) => void) => Running>}
 */
async function engine(job) {
  if (job.engine === 'loadtest') {
    const { Loadtest } = await import('./loadtest.js');
    return (job, onSecond) => new Loadtest(job, onSecond);
  }
  const { openloop } = await import('./openloop.js');
  const { warmUp } = await import('./warmup.js');
  const { protocol } = /** @type {{protocol: Protocol}} */ (await import(`./protocols/${job.protocol}.js`));
  await warmUp(protocol, job);
  return (job, onSecond) => openloop(protocol, job, onSecond);
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** @returns {Promise<any>} */
async function nextLine() {
  const { value, done } = await lines.next();
  return done ? process.exit(0) : JSON.parse(value);
}

const job = /** @type {Job} */ (await nextLine());
const running = await prepare(job);
await running.ready();
// Only openloop has been compiled by now, in its warm-up. loadtest, without a compiler's thread, would stay four times
// as slow as it is.
tell({ event: 'ready', helpers: job.engine === 'openloop' ? helpers : [] });
const { start } = /** @type {{start: number}} */ (await nextLine());
nextLine().then(() => running.stop());

const before = process.cpuUsage();
const result = await running.start(start);
const { user, system } = process.cpuUsage(before);
tell({
  event: 'result',
  ...result,
  generator: {
    cpu_s: (user + system) / 1e6,
    wall_s: (nowMs() - start) / 1000,
    peak_rss_mb: process.resourceUsage().maxRSS / 1024,
  },
});
