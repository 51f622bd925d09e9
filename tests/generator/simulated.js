// Simulate a server and a clock. Hours of load need only a second, and the result is always the same.

import { nowMs } from '../../loadtests/generator/clock.js';
import { openloop } from '../../loadtests/generator/openloop.js';
import { Exchange } from '../../loadtests/generator/recorder.js';
import { uniforms } from '../../loadtests/generator/schedule.js';

const SLOW_MS = 50;
const CLOCKS_DIFFER_MS = 1e-4; // nowMs() is rounded

let now = nowMs();
const origin = now - performance.now();
const events = new Set();

/** Call a function after this time. Functions with the same time are called in the order of their registration. */
function after(ms, act) {
  const event = { at: now + Math.max(0, ms), act };
  events.add(event);
  return event;
}

function step() {
  let first = { at: Infinity };
  for (const event of events) {
    if (event.at < first.at) {
      first = event;
    }
  }
  events.delete(first);
  now = Math.max(now, first.at);
  first.act();
}

performance.now = () => now - origin;
globalThis.setTimeout = (act, ms) => after(ms, act);
globalThis.setImmediate = (act) => after(0, act);
globalThis.setInterval = (act, ms) => {
  const timer = {};
  const again = () => {
    act();
    timer.event = after(ms, again);
  };
  timer.event = after(ms, again);
  return timer;
};
globalThis.clearInterval = (timer) => {
  events.delete(timer.event);
};

/** Send each request exactly when it is due. */
class ExactPacer {
  constructor(load) {
    this.load = load;
  }

  start() {
    this.wake();
  }

  wake() {
    this.setDue(this.load.advance());
  }

  setDue(due) {
    events.delete(this.event);
    this.event = due < Infinity ? after(due - now + CLOCKS_DIFFER_MS, () => this.wake()) : null;
  }

  rest() {
    this.setDue(Infinity);
  }

  stop() {}
}

/** A server that answers one request after the other, and pauses after every `every` requests. With `sharing`, the
 * server works on up to this number of requests at the same time, and finishes them together. */
export class Server {
  freeMs = 0;
  left = 0;
  connections = [];

  /** @param {{eachMs: number, pauseMs: number, every: number, random: boolean, sharing?: number}} options */
  constructor({ eachMs, pauseMs, every, random, seed = 1, sharing = 1 }) {
    const chance = uniforms(seed);
    Object.assign(this, { eachMs: eachMs * sharing, pauseMs, sharing, begun: 0 });
    this.next = () => (random ? Math.ceil(every * (0.5 + chance())) : every);
    this.left = this.next();
  }

  answeredAt() {
    if (this.begun++ % this.sharing === 0 || now > this.freeMs) {
      this.freeMs = Math.max(this.freeMs, now) + this.eachMs;
    }
    const at = this.freeMs;
    if (--this.left === 0) {
      this.left = this.next();
      this.freeMs += this.pauseMs;
    }
    return at;
  }

  get protocol() {
    return {
      exchange: () => new Exchange(),
      connect: (_job, owner) => {
        const connection = {
          busy: false,
          sends: [],
          destroy: () => {},
          send: (exchange, intended) => {
            const at = this.answeredAt();
            connection.sends.push(now);
            Object.assign(connection, { exchange, intended, busy: true, handedAt: now, sentAt: now });
            owner.onSent(connection, nowMs());
            after(at - now, () => {
              connection.busy = false;
              owner.onOk(connection, nowMs());
            });
          },
        };
        this.connections.push(connection);
        return connection;
      },
    };
  }
}

/** Run a load in slices of this length, with a rest after each slice. Return its result, and the share of answers that
 * took more than 50 ms. */
export function made(server, { rate, wholeMs, sliceMs, settleMs, connections = 10, answerMs = 0 }) {
  events.clear();
  const job = {
    origin: 'http://127.0.0.1:1', requests: [null], order: 'AAA=', timesMs: null, rate, connections, timeoutMs: 10_000, idleMs: 4000, answerMs, index: 0, processes: 1, turns: 1,
  }; // prettier-ignore
  const load = openloop(server.protocol, job, () => {});
  if (rate !== null) {
    load.pacer.stop();
    load.pacer = new ExactPacer(load);
  }
  let slow = 0;
  const { responseTime } = load.exchanges[0];
  const record = responseTime.record.bind(responseTime);
  responseTime.record = (ms) => {
    slow += ms > SLOW_MS ? 1 : 0;
    record(ms);
  };
  for (let fromMs = 0; fromMs < wholeMs; fromMs += sliceMs) {
    const slices = wholeMs / sliceMs;
    const settling = { fromMs: (fromMs / sliceMs) * settleMs, ofMs: settleMs * slices };
    const measured = { fromMs, ofMs: wholeMs };
    load.run({
      start: now + 100, settleMs, durationMs: sliceMs, graceMs: 10_000, arrivalSeed: null, settling, measured,
    }); // prettier-ignore
    while (!load.finished) {
      step();
    }
  }
  const measured = load.close();
  const [share] = measured.requests;
  const failures = Object.values(share.errors).reduce((sum, count) => sum + count, 0);
  return { ...measured, ...share, unfinished: share.planned - share.ok - failures, slow: slow / share.ok };
}
