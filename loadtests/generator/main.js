// One process of load. On standard input, a line of JSON each:
//
//     {"load": <name>, "job": <Job>}         prepare a load; answered by {"event": "ready"} with the threads that need
//                                            no priority
//     {"load": <name>, "step": true}         open the next part of its pool; answered by {"event": "stepped"}
//     {"load": <name>, "reopen": true}       open lost connections of its pool; answered by {"event": "reopened"}
//     {"load": <name>, "slice": <Slice>}     make it for a while; an event "second" for each second that is over, "sends"
//                                            for sends into rooms that other processes share, and
//                                            {"event": "over"} with `inVain`: whether an awaited answer is missing
//     {"load": <name>, "sends": <Sends>}     of another process, by this one's clock
//     {"stop": true}                         end the slice now
//     {"load": <name>, "close": true}        end it; answered by {"event": "result"} with its figures
//
// It generates one load at a time. It ends when standard input is closed, so it cannot outlive its parent.

import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { nowMs } from './clock.js';

/** @import { Job, OnSecond, Protocol, Running, Slice } from './types.ts' */

process.stdin.on('close', () => process.exit(0));
process.stdout.on('error', () => process.exit(1));

/** The threads that V8 has started until now. They compile and collect garbage, so none of them has to be on time. */
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

/** A prepared load, with the CPU time that it used while it was measured. */
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
      // While the load only waits for outstanding answers, delays don't matter.
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
 * Return the load of a job after the engine has warmed up for its protocol.
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
  if (!warm.has(work)) {
    const { warmUp } = await import('./warmup.js');
    await warmUp(protocol, job);
    warm.add(work);
  }
  return openloop(protocol, job, onSecond, (sends) => report({ event: 'sends', index: job.index, ...sends }));
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
    // Only openloop has been compiled by now, during its warm-up. Without a compiler thread, loadtest would stay four
    // times slower.
    report({ event: 'ready', helpers: message.job.engine === 'openloop' ? helpers : [] });
  } else if (message.reopen && prepared) {
    await prepared.running.reopen?.();
    report({ event: 'reopened' });
  } else if (message.step && prepared) {
    await prepared.running.step?.();
    report({ event: 'stepped' });
  } else if (message.sends) {
    prepared?.running.expect?.(message.sends);
  } else if (message.stop) {
    running?.stop();
  } else if (message.slice && prepared) {
    running = prepared.running;
    prepared.run(message.slice); // not awaited, so that it can be stopped
  } else if (message.close && prepared) {
    loads.delete(message.load);
    await prepared.close();
  }
}
