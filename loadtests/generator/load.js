// What a load by a schedule and a closed loop have in common: connections, timeouts, the grace period, the end, and how
// all of it is recorded.

import { nowMs } from './clock.js';
import { Mix } from './mix.js';
import { Recorder } from './recorder.js';

/** @import { ErrorKind, Job, Measured, Running, Second } from './job.js' */
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
    /** @type {Connection[]} */
    this.idle = []; // the one used last is used next, so that few are kept busy rather than many half idle
    this.inFlight = 0;
    this.startMs = 0;
    this.endMs = 0;
    this.finished = false;
    /** @type {(measured: Measured) => void} */
    this.resolve = () => {};
  }

  async ready() {
    this.held = (await this.protocol.hold?.(this.job)) ?? null;
    this.recorder.deliveries = this.held?.deliveries ?? null;
  }

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
    const { deliveries } = this.recorder;
    return this.inFlight === 0 && (deliveries === null || deliveries.missing === 0);
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
    this.held?.close();
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
    setImmediate(() => this.release(connection)); // a client need not bear to be used while it reports an error
  }

  release(/** @type {Connection} */ connection) {
    this.inFlight--;
    this.idle.push(connection);
    this.onFree();
  }

  /** A connection has become free. */
  onFree() {}
}
