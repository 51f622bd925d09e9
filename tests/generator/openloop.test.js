import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nowMs } from '../../loadtests/generator/clock.js';
import { Deliveries } from '../../loadtests/generator/deliveries.js';
import { Exchange } from '../../loadtests/generator/recorder.js';
import { openloop } from '../../loadtests/generator/openloop.js';
import { protocol as http } from '../../loadtests/generator/protocols/http.js';

const ORDER = Buffer.from(Uint16Array.of(0).buffer).toString('base64');
const ASKED = { method: 'GET', path: '/', headers: [], body: null, status: 200, expectBody: null, closes: false };

const JOB = {
  engine: 'openloop',
  protocol: 'given',
  origin: 'http://127.0.0.1:1',
  requests: [ASKED],
  order: ORDER,
  timesMs: null,
  rate: 100,
  connections: 1,
  timeoutMs: 1000,
  idleMs: 4000,
  index: 0,
  processes: 1,
  keepAlive: true,
};

/** A slice of a schedule of one second, from now on. */
function sliced({ fromMs = 0, ...slice }) {
  const part = { fromMs, ofMs: 1000 };
  return { start: nowMs(), settleMs: 0, durationMs: 0, graceMs: 1000, arrivalSeed: null, settling: part, measured: part, ...slice };
}

async function measured(protocol, job = {}, slice = {}) {
  const load = openloop(protocol, { ...JOB, ...job }, () => {});
  await load.ready();
  await load.run(sliced({ durationMs: 100, ...slice }));
  return load.close();
}

/** Each send is to reach receivers 0, 1 and 2, after `delayMs`. Send 4 does not reach 2, and reaches 1 twice. */
class Room {
  constructor(delayMs) {
    this.delayMs = delayMs;
    this.deliveries = new Deliveries();
    this.closed = false;
  }

  send(number, intended) {
    for (const receiver of [0, 1, 2]) {
      this.deliveries.expect(receiver, 'sender', number, intended);
    }
    setTimeout(() => this.deliver(number), this.delayMs);
  }

  deliver(number) {
    for (const receiver of number === 4 ? [0, 1, 1] : [0, 1, 2]) {
      this.deliveries.arrived(receiver, 'sender', number, nowMs());
    }
  }

  close() {
    this.closed = true;
  }
}

class Sender {
  constructor(owner, room) {
    this.owner = owner;
    this.room = room;
    this.busy = false;
    this.number = 0;
  }

  send(exchange, intended) {
    this.exchange = exchange;
    this.intended = intended;
    this.busy = true;
    this.handedAt = this.sentAt = nowMs();
    this.owner.onSent(this, this.sentAt);
    this.room.send(this.number++, intended);
    setImmediate(() => {
      this.busy = false;
      this.owner.onOk(this, nowMs());
    });
  }

  destroy() {}
}

const chat = (room) => ({
  exchange: () => new Exchange(),
  connect: (_job, owner, room) => new Sender(owner, room),
  openPool: async () => room,
});

test('one send is delivered to several receivers, and each delivery is counted', async () => {
  const room = new Room(0);
  const { planned, ok, unfinished, deliveries } = await measured(chat(room));
  const { lag, last, reading, in_time, backlog, stray, messages, whole, of_messages, ...counts } = deliveries;
  assert.deepEqual([planned, ok, unfinished], [10, 10, 0]);
  assert.deepEqual(counts, { expected: 30, delivered: 29, missing: 1, duplicate: 1, reordered: 0 });
  assert.equal(of_messages, null);
  assert.ok(lag.max_us > 0);
  assert.ok(in_time <= 29);
  assert.deepEqual([backlog.length, stray], [1, 0]);
  assert.deepEqual([messages, whole, last.max_us, reading.max_us], [0, 0, 0, 0]); // this protocol tells nothing of these
  assert.ok(room.closed);
});

test('the grace period is for deliveries, and ends with the last', { timeout: 60_000 }, async () => {
  const { deliveries } = await measured(chat(new Room(400)), {}, { durationMs: 30, graceMs: 600_000 });
  assert.deepEqual([deliveries.expected, deliveries.missing], [9, 0]);
});

test('a load that sends nothing is zeros', async () => {
  const idle = await measured(http, { rate: 0 });
  const spreads = Object.values(idle.spreads).flatMap((spread) => [spread.max_us, spread.sum_us]);
  assert.deepEqual(spreads, spreads.map(() => 0));
  const { planned, sent, completed, ok, rate, unfinished, waited, duration_s, errors, deliveries } = idle;
  const counts = [planned, sent, completed, ok, rate, unfinished, waited];
  assert.deepEqual(counts, counts.map(() => 0));
  assert.deepEqual([duration_s, errors, deliveries], [0.1, {}, null]);
  const [{ response_time: _, ...share }] = idle.requests;
  assert.deepEqual(share, { planned: 0, sent: 0, completed: 0, ok: 0, errors: {} });
});

test('connections that idle are open until the end', async () => {
  const open = [];
  const pool = { deliveries: null, begin: () => open.push('begin'), end: () => open.push('end'), close: () => open.push('close') };
  const openPool = async () => {
    open.push('open');
    return pool;
  };
  const { sent, deliveries } = await measured({ ...http, openPool }, { rate: 0 });
  assert.deepEqual([sent, deliveries, open], [0, null, ['open', 'begin', 'end', 'close']]);
});

/** Answers at once, and counts the connections and the sends. */
class Counting {
  connections = 0;
  sends = 0;
  protocol = {
    exchange: () => new Exchange(),
    connect: (_job, owner) => {
      this.connections++;
      return new Sender(owner, { send: () => this.sends++ });
    },
  };
}

for (const rate of [100, null]) {
  test(`what is sent to settle is not measured, and slices share connections, at ${rate ?? 'no'} rate`, async () => {
    const counting = new Counting();
    const seconds = [];
    const load = openloop(counting.protocol, { ...JOB, rate, connections: 2 }, (second) => seconds.push(second));
    await load.ready();
    await load.run(sliced({ settleMs: 100 }));
    const warm = counting.sends;
    for (const fromMs of [0, 100]) {
      await load.run(sliced({ settleMs: 50, durationMs: 100, fromMs }));
    }
    const { planned, sent, ok, billed, unfinished, duration_s, requests } = load.close();
    assert.ok(counting.connections <= 2);
    assert.equal(duration_s, 0.2);
    assert.deepEqual([sent, ok, unfinished, requests[0].planned], [planned, planned, 0, planned]);
    assert.equal(billed, counting.sends - warm); // those of the slices, while they settle too
    assert.ok(seconds.every(({ t }) => t === 0)); // two slices of a tenth
    assert.equal(seconds.reduce((sum, second) => sum + second.ok, 0), ok);
    if (rate !== null) {
      assert.deepEqual([warm, planned, billed], [10, 20, 30]);
    }
  });
}

/** Sends, and is answered when `answer` says so. */
class Waiting extends Sender {
  send(exchange, intended) {
    Object.assign(this, { exchange, intended, busy: true, handedAt: nowMs(), sentAt: nowMs() });
    this.owner.onSent(this, this.sentAt);
    this.room.answer(() => {
      this.busy = false;
      this.owner.onOk(this, nowMs());
    });
  }
}

const waiting = (answer) => ({
  exchange: () => new Exchange(),
  connect: (_job, owner) => new Waiting(owner, { answer }),
});

test('what is outstanding at the end of a slice is given up, and the next slice starts afresh', async () => {
  const load = openloop(waiting(() => {}), { ...JOB, connections: 20, timeoutMs: 60 }, () => {});
  await load.ready();
  for (const fromMs of [0, 50]) {
    await load.run(sliced({ durationMs: 50, fromMs }));
  }
  const { planned, sent, ok, unfinished, spreads } = load.close();
  assert.deepEqual([planned, sent, ok, unfinished], [10, 10, 0, 10]);
  assert.ok(spreads.failed.max_us >= 60_000);
});

/** Answers one request after the other, each after `workMs`. */
function queue(workMs) {
  let freeAt = 0;
  return (answer) => {
    freeAt = Math.max(freeAt, nowMs()) + workMs;
    setTimeout(answer, freeAt - nowMs());
  };
}

test('slices that leave more behind than they found show a rate that is too much', async () => {
  for (const [rate, grows] of [[20, false], [100, true]]) {
    const load = openloop(waiting(queue(20)), { ...JOB, rate, connections: 100, timeoutMs: 5000 }, () => {});
    await load.ready();
    for (const fromMs of [0, 200]) {
      await load.run(sliced({ settleMs: 100, durationMs: 200, fromMs }));
    }
    const { backlog, planned, ok } = load.close();
    assert.equal(ok, planned);
    assert.equal(backlog.length, 2);
    assert.equal(backlog.every((growth) => growth > 5), grows, `${rate}/s: ${backlog}`);
  }
});

test('what is left behind is recorded also where a slice ends before its timers are seen to, and not where it is stopped', async () => {
  const load = openloop(waiting(() => {}), { ...JOB, connections: 20 }, () => {});
  await load.ready();
  for (const fromMs of [0, 50]) {
    const over = load.run(sliced({ durationMs: 50, graceMs: 0, fromMs }));
    while (nowMs() < load.endMs) {
      // a busy machine
    }
    load.look(nowMs());
    await over;
  }
  const stopped = load.run(sliced({ durationMs: 50 }));
  load.stop();
  await stopped;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(load.close().backlog.length, 2);
});

test('a rate is kept over slices that are too short for it', async () => {
  for (const arrivalSeed of [null, 1]) {
    const load = openloop(new Counting().protocol, { ...JOB, rate: 5 }, () => {});
    await load.ready();
    for (const fromMs of [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]) {
      await load.run(sliced({ durationMs: 100, arrivalSeed, fromMs }));
    }
    assert.equal(load.close().planned, 5);
  }
});
