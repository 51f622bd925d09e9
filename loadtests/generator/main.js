// Run one process of the load generator. Each line of standard input is a command in JSON:
//
//     {"load": <name>, "job": <Job>}         Prepare a load. The answer is {"event": "ready"} with the threads that
//                                            need no priority.
//     {"load": <name>, "step": true}         Open the next part of the load's pool. The answer is {"event": "stepped"}.
//     {"load": <name>, "reopen": true}       Open lost connections of the pool. The answer is {"event": "reopened"}.
//     {"load": <name>, "slice": <Slice>}     Generate the load for a slice. The answers are an event "second" for each
//                                            second that has passed, and finally {"event": "over"}, in which `inVain`
//                                            tells whether an awaited answer is missing.
//     {"stop": true}                         End the slice now.
//     {"load": <name>, "close": true}        End the load. The answer is {"event": "result"} with its figures.
//
// The process generates one load at a time. It exits when standard input is closed, so it can't outlive its parent.

import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { nowMs } from './clock.js';

/** @import { Job, OnSecond, Protocol, Running, Slice } from './types.ts' */

process.stdin.on('close', () => process.exit(0));
process.stdout.on('error', () => process.exit(1));

/**
 * The threads that V8 has started so far. These threads compile code and collect garbage, so delays of these threads
 * don't matter.
 */
const helpers = threads().filter((thread) => thread !== process.pid);

function threads() {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return []; // not Linux
  }
}

/** @param {object} event */
function report(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

/** @type {Set<string>} */
const warm = new Set();  // the protocols and conversations for which the engine has warmed up

/** A prepared load, with the CPU time of its measured slices. */
class Prepared {
  cpuS = 0;
  wallS = 0;

  constructor(/** @type {Running} */ running) {
    this.running = running;
  }

  /** @param {Slice} slice */
  async run(slice) {
    const before = process.cpuUsage();
    const inVain = await this.running.run(slice);
    if (slice.durationMs > 0) {
      const { user, system } = process.cpuUsage(before);
      this.cpuS += (user + system) / 1e6;
      // After the end of the slice, the load only waits for outstanding answers, so delays don't matter.
      this.wallS += Math.min(nowMs() - slice.start, slice.settleMs + slice.durationMs) / 1000;
    }
    report({ event: 'over', inVain });
  }

  async close() {
    await this.running.listen?.();
    const peakMb = process.resourceUsage().maxRSS / 1024;
    const measured = this.running.close();
    await this.running.ended?.();  // a server may need some time to close thousands of connections
    const generator = { cpu_s: this.cpuS, wall_s: this.wallS, peak_rss_mb: peakMb };
    report({ event: 'result', ...measured, generator });
  }
}

/**
 * Warm up the engine for the protocol of a job, and return the job's load.
 *
 * @param {Job} job
 * @returns {Promise<Running>}
 */
async function load(job) {
  /** @type {OnSecond} */
  const onSecond = (second) => report({ event: 'second', ...second });
  if (job.engine === 'loadtest') {
    const { Loadtest } = await import('./loadtest.js');
    return new Loadtest(job, onSecond);
  }
  const { openloop } = await import('./openloop.js');
  const { protocol } = /** @type {{protocol: Protocol}} */ (await import(`./protocols/${job.protocol}.js`));
  const work = `${job.protocol} ${job.conversation?.does}`;
  if (!warm.has(work) && job.compileMs) {
    const { warmUp } = await import('./warmup.js');
    await warmUp(protocol, job);
    warm.add(work);
  }
  return openloop(protocol, job, onSecond);
}

/** @type {Map<string, Prepared>} */
const loads = new Map();
/** @type {Running | null} */
let running = null;

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const prepared = loads.get(message.load);
  if (message.job) {
    const loaded = await load(message.job);
    await loaded.ready();
    loads.set(message.load, new Prepared(loaded));
    // So far, only openloop has been compiled, during its warm-up. If the compiler threads lost their priority now,
    // loadtest would remain uncompiled and four times slower.
    report({ event: 'ready', helpers: message.job.engine === 'openloop' ? helpers : [] });
  } else if (message.reopen && prepared) {
    await prepared.running.pool?.reopen?.();
    report({ event: 'reopened' });
  } else if (message.step && prepared) {
    await prepared.running.pool?.step?.();
    report({ event: 'stepped' });
  } else if (message.stop) {
    running?.stop();
  } else if (message.slice && prepared) {
    running = prepared.running;
    prepared.run(message.slice); // not awaited, so that a later command can stop the slice
  } else if (message.close && prepared) {
    loads.delete(message.load);
    await prepared.close();
  }
}
