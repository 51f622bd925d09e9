// One process of load. On standard input: the job, then {"start": <milliseconds of the monotonic clock>}, then maybe
// {"stop": true}; each a line of JSON. On standard output, a line of JSON each: {"event": "ready"}, an event "second"
// for each second that is over, and "result". It ends when standard input is closed, so it cannot outlive its parent.

import { createInterface } from 'node:readline';

import { nowMs } from './clock.js';

/** @import { Job, Running, Second } from './job.js' */

process.stdin.on('close', () => process.exit(0));
process.stdout.on('error', () => process.exit(1));

/** @param {object} event */
function tell(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

/**
 * @param {Job} job
 * @returns {Promise<Running>}
 */
async function prepare(job) {
  /** @param {Second} second */
  const onSecond = (second) => tell({ event: 'second', ...second });
  if (job.engine === 'loadtest') {
    const { Loadtest } = await import('./loadtest.js');
    return new Loadtest(job, onSecond);
  }
  const { openloop } = await import('./openloop.js');
  const { warmUp } = await import('./warmup.js');
  await warmUp();
  return openloop(job, onSecond);
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** @returns {Promise<any>} */
async function nextLine() {
  const { value, done } = await lines.next();
  return done ? process.exit(0) : JSON.parse(value);
}

const running = await prepare(/** @type {Job} */ (await nextLine()));
await running.ready();
tell({ event: 'ready' });
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
