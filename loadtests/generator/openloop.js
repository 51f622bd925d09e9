// Requests by a schedule, or as fast as a number of connections are answered. Two ways to send, one way to record.

import { nowMs } from './clock.js';
import { Connection } from './connection.js';
import { Mix } from './mix.js';
import { Pacer } from './pacer.js';
import { Recorder } from './recorder.js';
import { Recorded, Schedule } from './schedule.js';

/** @import { ErrorKind, Job, Measured, Running, Second } from './job.js' */
/** @import { Owner } from './connection.js' */

const LOOK_EVERY_MS = 50; // for requests that have waited too long
const OPENED_PER_TURN = 4;

/**
 * What both have in common: connections, timeouts, the grace period, the end.
 *
 * @implements {Owner}
 * @implements {Running}
 */
class Load {
  /**
   * @param {Job} job
   * @param {(second: Second) => void} onSecond
   */
  constructor(job, onSecond) {
    this.job = job;
    this.mix = new Mix(job);
    this.recorder = new Recorder(
      onSecond,
      this.mix.exchanges.map((exchange) => exchange.tally),
    );
    /** @type {Set<Connection>} */
    this.connections = new Set();
    /** @type {Connection[]} */
    this.idle = []; // the one used last is used next, so that few are kept busy rather than many half idle
    this.inFlight = 0;
    this.startMs = 0;
    this.endMs = 0;
    this.finished = false;
    /** @type {(measured: Measured) => void} */
    this.resolve = () => {};
  }

  async ready() {}

  /**
   * @param {number} startMs
   * @returns {Promise<Measured>}
   */
  start(startMs) {
    this.startMs = startMs;
    this.endMs = startMs + this.job.durationMs;
    this.recorder.start(this.startMs, this.endMs);
    this.looking = setInterval(() => this.look(nowMs()), LOOK_EVERY_MS);
    return new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /**
   * Requests planned until `now`, by request. Nothing is planned ahead in a closed loop.
   *
   * @param {number} _now
   */
  planned(_now) {
    return this.mix.exchanges.map((exchange) => exchange.tally.sent);
  }

  /** Gives up what has waited too long while the schedule runs; ends the run when it is done or out of time. */
  look(/** @type {number} */ now) {
    this.recorder.roll(now);
    if (now < this.endMs) {
      for (const connection of this.connections) {
        if (connection.busy && now - connection.handedAt >= this.job.timeoutMs) {
          const { exchange, intended } = connection;
          this.drop(connection);
          const text = `no answer in ${this.job.timeoutMs / 1000} s`;
          this.recorder.wasError(exchange.tally, 'timeout', false, intended, now, text);
          this.onFree();
        }
      }
    } else if (this.isDone() || now >= this.endMs + this.job.timeoutMs) {
      this.finish(now);
    }
  }

  isDone() {
    return this.inFlight === 0;
  }

  /** Whether there are as many connections as are allowed. */
  get full() {
    return this.connections.size >= this.job.connections;
  }

  open() {
    const connection = new Connection(this.job, this);
    this.connections.add(connection);
    return connection;
  }

  drop(/** @type {Connection} */ connection) {
    this.connections.delete(connection);
    this.inFlight--;
    connection.destroy();
  }

  stop() {
    this.finish(nowMs());
  }

  finish(/** @type {number} */ now) {
    if (this.finished) {
      return;
    }
    this.finished = true;
    clearInterval(this.looking);
    for (const connection of this.connections) {
      if (connection.busy && connection.intended > 0) {
        this.recorder.failed.record(now - connection.intended);
      }
      connection.destroy();
    }
    this.resolve(this.recorder.measured(now, this.planned(now)));
  }

  // What a connection calls.

  onSent(/** @type {Connection} */ connection, /** @type {number} */ at) {
    this.recorder.wasSent(connection.exchange.tally, connection.intended, at);
  }

  onOk(/** @type {Connection} */ connection, /** @type {number} */ at) {
    this.recorder.wasOk(connection.exchange.tally, connection.intended, connection.sentAt, at);
    this.release(connection);
  }

  /**
   * @param {Connection} connection
   * @param {number} at
   * @param {ErrorKind} kind
   * @param {boolean} answered
   * @param {string} text
   */
  onFailed(connection, at, kind, answered, text) {
    this.recorder.wasError(connection.exchange.tally, kind, answered, connection.intended, at, text);
    setImmediate(() => this.release(connection)); // undici's client must not be used while it reports an error
  }

  release(/** @type {Connection} */ connection) {
    this.inFlight--;
    this.idle.push(connection);
    this.onFree();
  }

  /** A connection has become free. */
  onFree() {}
}

/** By a schedule: send k is due when the schedule says, whatever became of the ones before. */
export class Scheduled extends Load {
  /**
   * @param {Job} job
   * @param {(second: Second) => void} onSecond
   */
  constructor(job, onSecond) {
    super(job, onSecond);
    this.schedule = scheduleOf(job);
    this.noticed = 0; // the first request that was not yet seen to be due
    this.next = 0; // the first request not handed to a connection
    this.waiting = 0; // the first request that was not found to have to wait for a connection
    this.opened = 0; // connections in this turn of the event loop
    this.nextTurn = this.nextTurn.bind(this);
    this.pacer = new Pacer(() => this.advance(), this.schedule.gapMs * job.of);
  }

  ready() {
    return this.pacer.ready();
  }

  start(/** @type {number} */ startMs) {
    const measured = super.start(startMs);
    this.pacer.start();
    return measured;
  }

  /**
   * Sends all that is due, as far as there are connections; the rest follows as they become free.
   *
   * @returns {number} when the next request is due
   */
  advance() {
    const now = nowMs();
    while (this.due(this.noticed) <= now) {
      this.noticed++;
    }
    this.send();
    return this.due(this.noticed);
  }

  /** When the i-th request is due. */
  due(/** @type {number} */ i) {
    return this.startMs + this.schedule.dueMs(i);
  }

  /** Hands the requests that are due to connections, in their order: to idle ones, then to new ones. */
  send() {
    while (this.next < this.noticed) {
      const connection = this.idle.pop() ?? this.another();
      if (connection === undefined) {
        return;
      }
      const due = this.due(this.next);
      if (this.next >= this.waiting) {
        this.recorder.pacingLag.record(nowMs() - due);
      }
      const exchange = this.mix.at(this.next);
      this.next++;
      this.inFlight++;
      connection.send(exchange, due);
    }
  }

  /**
   * Another connection, unless all are busy or enough were opened in this turn of the event loop. Opening takes the
   * generator far longer than sending: were it to open one for each request that it is late with, it would fall
   * behind further. In the next turn some will have become idle.
   */
  another() {
    if (this.full) {
      const now = nowMs();
      for (let i = Math.max(this.waiting, this.next); i < this.noticed; i++) {
        this.recorder.pacingLag.record(now - this.due(i));
        this.recorder.waited++;
      }
      this.waiting = this.noticed;
      return undefined;
    }
    if (this.opened === 0) {
      setImmediate(this.nextTurn);
    }
    if (this.opened === OPENED_PER_TURN) {
      return undefined;
    }
    this.opened++;
    return this.open();
  }

  nextTurn() {
    this.opened = 0;
    this.send();
  }

  onFree() {
    this.pacer.moved(this.advance()); // awake anyway: no need to wait for the metronome
    if (this.isDone() && nowMs() >= this.endMs) {
      this.finish(nowMs());
    }
  }

  isDone() {
    return super.isDone() && this.next === this.schedule.count;
  }

  planned(/** @type {number} */ now) {
    return this.mix.among(this.plannedUntil(now));
  }

  plannedUntil(/** @type {number} */ now) {
    let planned = this.noticed;
    while (this.due(planned) <= now) {
      planned++; // due, but the generator had not come to it
    }
    return planned;
  }

  finish(/** @type {number} */ now) {
    if (!this.finished) {
      const planned = this.plannedUntil(now);
      for (let i = this.next; i < planned; i++) {
        this.recorder.failed.record(now - this.due(i));
      }
      this.pacer.stop();
    }
    super.finish(now);
  }
}

/** Closed loop: each connection sends as soon as it has been answered. */
export class ClosedLoop extends Load {
  /**
   * @param {Job} job
   * @param {(second: Second) => void} onSecond
   */
  constructor(job, onSecond) {
    super(job, onSecond);
    this.next = 0;
  }

  start(/** @type {number} */ startMs) {
    const measured = super.start(startMs);
    setTimeout(() => this.onFree(), Math.max(0, startMs - nowMs()));
    return measured;
  }

  onFree() {
    if (this.finished) {
      return;
    }
    if (nowMs() < this.endMs) {
      while (this.idle.length > 0 || !this.full) {
        this.inFlight++;
        (this.idle.pop() ?? this.open()).send(this.mix.at(this.next++), 0); // its intended time is set when it is sent
      }
    } else if (this.isDone()) {
      this.finish(nowMs());
    }
  }

  /** A request is intended when it is sent. */
  onSent(/** @type {Connection} */ connection, /** @type {number} */ at) {
    connection.intended = at;
    super.onSent(connection, at);
  }
}

/**
 * @param {Job} job
 * @param {(second: Second) => void} onSecond
 * @returns {Running}
 */
export function openloop(job, onSecond) {
  return job.rate === null ? new ClosedLoop(job, onSecond) : new Scheduled(job, onSecond);
}

/** @param {Job} job */
function scheduleOf({ rate, timesMs, durationMs, index, of }) {
  return timesMs === null
    ? new Schedule(/** @type {number} */ (rate), durationMs, index, of)
    : new Recorded(timesMs, durationMs, index, of);
}
