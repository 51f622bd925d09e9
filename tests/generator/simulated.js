// Simulate a server and a clock. Hours of load need only a second, and the result is always the same.

import { nowMs } from '../../loadtests/generator/clock.js';
import { openloop } from '../../loadtests/generator/openloop.js';
import { Exchange } from '../../loadtests/generator/recorder.js';
import { uniforms } from '../../loadtests/generator/schedule.js';

const SLOW_MS = 50;
const CLOCKS_DIFFER_MS = 1e-4; // nowMs() is rounded

let now = nowMs();
const origin = now - performance.now();
let events = [];
let number = 0;

/** Call a function after this time. A binary heap is fast enough for the large number of functions. */
function after(ms, act) {
  const event = { at: now + Math.max(0, ms), number: number++, act };
  let place = events.push(event) - 1;
  for (let above; place > 0 && earlier(event, events[(above = (place - 1) >> 1)]); place = above) {
    [events[place], events[above]] = [events[above], event];
  }
  return event;
}

function earlier(one, other) {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}

function step() {
  const [first] = events;
  const last = events.pop();
  if (events.length > 0) {
    let place = 0;
    events[0] = last;
    for (;;) {
      let least = 2 * place + 1;
      if (least + 1 < events.length && earlier(events[least + 1], events[least])) {
        least++;
      }
      if (least >= events.length || !earlier(events[least], last)) {
        break;
      }
      [events[place], events[least]] = [events[least], last];
      place = least;
    }
  }
  now = Math.max(now, first.at);
  first.act?.();
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
  timer.event.act = null;
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
    if (this.event) {
      this.event.act = null;
    }
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
  events = [];
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
  return { ...measured, slow: slow / measured.ok };
}
