// What a load by a schedule and a closed loop have in common: connections, timeouts, the grace period, the end, and how
// all of it is recorded.

import { nowMs } from './clock.js';
import { InTurn } from './inturn.js';
import { Mix } from './mix.js';
import { Recorder } from './recorder.js';

/** @import { ErrorKind, Job, Running, Second, Slice } from './job.js' */
/** @import { Connection, Held, Owner, Protocol } from './protocol.js' */

const LOOK_EVERY_MS = 50; // for requests that have waited too long

/**
 * @implements {Owner}
 * @implements {Running}
 */
export class Load {
  /**
   * @param {Protocol} protocol
   * @param {Job} job
   * @param {(second: Second) => void} onSecond
   */
  constructor(protocol, job, onSecond) {
    this.protocol = protocol;
    this.job = job;
    this.mix = new Mix(protocol, job);
    this.recorder = new Recorder(
      onSecond,
      this.mix.exchanges.map((exchange) => exchange.tally),
    );
    /** @type {Held | null} */
    this.held = null;
    /** @type {Set<Connection>} */
    this.connections = new Set();
    /** @type {Connection[] | InTurn<Connection>} */
    this.idle = []; // the one used last is used next, so that few are kept busy rather than many half idle
    this.inFlight = 0;
    this.startMs = 0; // of the slice
    this.fromMs = 0; // when its measured part begins
    this.endMs = 0;
    /** @type {void | Promise<void>} */
    this.ending = undefined;
    this.finished = true;
    this.resolve = () => {};
  }

  async ready() {
    this.held = (await this.protocol.hold?.(this.job)) ?? null;
    this.recorder.deliveries = this.held?.deliveries ?? null;
    if (this.held?.inTurn) {
      this.idle = new InTurn(this.job.connections);
    }
  }

  /** Opens the next part of what is to be held open, where that is done in steps. */
  async step() {
    await this.held?.step?.();
  }

  /** Opens again what is to be held open and was lost; called between slices. */
  async mend() {
    await this.held?.mend?.();
  }

  /**
   * @param {Slice} slice
   * @returns {Promise<void>}
   */
  run(slice) {
    this.finished = false;
    this.startMs = slice.start;
    this.fromMs = slice.start + slice.settleMs;
    this.endMs = this.fromMs + slice.durationMs;
    this.recorder.start(this.startMs, this.fromMs, this.endMs);
    this.recorder.deliveries?.begin(this.startMs, this.fromMs, this.endMs);
    this.held?.begin?.(slice);
    while (this.held?.inTurn && !this.full) {
      this.idle.push(this.open());
    }
    this.looking = setInterval(() => this.look(nowMs()), LOOK_EVERY_MS);
    return new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /** Gives up what has waited too long while the schedule runs; ends the run when it is done or out of time. */
  look(/** @type {number} */ now) {
    this.recorder.roll(now);
    this.recorder.deliveries?.look(now);
    if (this.held?.isOver?.(now)) {
      this.finish(now);
    } else if (now < this.endMs) {
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
    const { deliveries } = this.recorder;
    const closing = this.held?.closing ?? 0;
    return this.inFlight === 0 && closing === 0 && (deliveries === null || deliveries.awaited === 0);
  }

  /** Whether there are as many connections as are allowed. */
  get full() {
    return this.connections.size >= this.job.connections;
  }

  open() {
    const connection = this.protocol.connect(this.job, this, this.held);
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

  /** The end of a slice: what is outstanding is given up; connections that are idle stay open. */
  finish(/** @type {number} */ now) {
    if (this.finished) {
      return;
    }
    this.finished = true;
    clearInterval(this.looking);
    for (const connection of this.connections) {
      if (connection.busy) {
        if (this.recorder.counts(connection.intended)) {
          this.recorder.failed.record(now - connection.intended);
        }
        this.drop(connection);
      }
    }
    this.plan(now);
    this.recorder.end(now);
    this.recorder.deliveries?.end(now);
    this.held?.end?.();
    this.resolve();
  }

  /**
   * Counts what was planned in the slice until `now`, by request. Nothing is planned ahead in a closed loop.
   *
   * @param {number} _now
   */
  plan(_now) {
    for (const { tally } of this.mix.exchanges) {
      tally.planned = tally.sent;
    }
  }

  close() {
    this.finish(nowMs());
    for (const connection of this.connections) {
      connection.destroy();
    }
    const connections = this.held?.measured?.() ?? null;
    this.ending = this.held?.close();
    return { ...this.recorder.measured(this.job.rate === null), connections };
  }

  /** Resolves when what it closed is closed on the other side too. */
  async ended() {
    await this.ending;
  }

  // What a connection calls.

  counts(/** @type {number} */ intended) {
    return this.recorder.counts(intended);
  }

  onSent(/** @type {Connection} */ connection, /** @type {number} */ at) {
    this.recorder.wasSent(connection.exchange.tally, connection.intended, at);
  }

  onOk(/** @type {Connection} */ connection, /** @type {number} */ at) {
    this.recorder.wasOk(connection.exchange.tally, connection.intended, connection.sentAt, at, connection.how);
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
    const how = kind === 'status' ? connection.how : kind;
    this.recorder.wasError(connection.exchange.tally, kind, answered, connection.intended, at, text, how);
    setImmediate(() => this.release(connection)); // a client need not bear to be used while it reports an error
  }

  release(/** @type {Connection} */ connection) {
    if (!this.connections.has(connection)) {
      return; // given up meanwhile
    }
    this.inFlight--;
    this.idle.push(connection);
    this.onFree();
  }

  /** A connection has become free. */
  onFree() {}
}
