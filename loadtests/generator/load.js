// The common base of scheduled loads and closed loops. This class manages the connections, the timeouts, the grace
// period, the end of a slice and the recording.

import { setTimeout as sleep } from 'node:timers/promises';

import { nowMs } from './clock.js';
import { Recorder } from './recorder.js';
import { SilentClients } from './silent.js';
import { SliceClock } from './sliceclock.js';
import { tlsOf } from './tls.js';

/** @import { Exchange } from './recorder.js' */
/** @import { Connection, Job, OnSecond, Owner, Pool, Protocol, Running, Slice } from './types.ts' */

const LOOK_EVERY_MS = 50; // the interval of `look`
// A connection that has been idle for this share of job.idleMs is used last, because the server may close it.
const MAX_IDLE_SHARE = 0.8;

/**
 * @implements {Owner}
 * @implements {Running}
 */
export class Load {
  /** @type {Pool | null} */
  pool = null;
  /** @type {Set<Connection>} */
  connections = new Set();
  /** @type {Connection[]} */
  idle = [];
  inFlight = 0;
  startMs = 0; // the start of the slice
  fromMs = 0; // the start of the slice's measured part
  endMs = 0;
  graceMs = 0;
  /** @type {SliceClock} */
  clock = /** @type {SliceClock} */ (/** @type {unknown} */ (undefined)); // undefined until a slice starts
  finished = true;
  /** @type {void | Promise<void>} */
  ending = undefined;
  /** @type {(inVain: boolean) => void} */
  resolve = () => {};

  /** @param {Protocol} protocol @param {Job} job @param {OnSecond} onSecond */
  constructor(protocol, job, onSecond) {
    this.protocol = protocol;
    this.job = job;
    this.exchanges = job.requests.map((request) => protocol.exchange(request, job));
    this.order = new Uint16Array(Uint8Array.from(Buffer.from(job.order, 'base64')).buffer);
    this.recorder = new Recorder(onSecond, this.exchanges);
    this.silent = new SilentClients(job);
  }

  async ready() {
    await this.silent.opened;
    this.pool = (await this.protocol.openPool?.(this.job)) ?? null;
    this.recorder.deliveries = this.pool?.deliveries ?? null;
  }

  /** @param {Slice} slice @returns {Promise<boolean>} */
  run(slice) {
    this.finished = false;
    this.startMs = slice.start;
    this.fromMs = slice.start + slice.settleMs;
    this.endMs = this.fromMs + slice.durationMs;
    this.graceMs = slice.graceMs;
    this.clock = this.clockOf(slice);
    this.recorder.start(this.startMs, this.fromMs, this.endMs);
    this.recorder.deliveries?.begin(this.startMs, this.fromMs, this.endMs);
    this.pool?.begin?.(slice);
    while (this.pool?.roundRobin && !this.full) {
      this.idle.push(this.open());
    }
    this.looking = setInterval(() => this.look(nowMs()), LOOK_EVERY_MS);
    return new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  clockOf(/** @type {Slice} */ slice) {
    return new SliceClock(slice, this.job.answerMs);
  }

  /**
   * Give up requests that have waited too long. After the end of the slice, finish it when no request is
   * outstanding or the grace period is over.
   */
  look(/** @type {number} */ now) {
    this.recorder.roll(now);
    this.recorder.deliveries?.look(now);
    if (now < this.endMs) {
      for (const connection of this.connections) {
        if (connection.busy && now - connection.handedAt >= this.job.timeoutMs) {
          const { exchange, intended } = connection;
          this.drop(connection);
          const text = `no answer in ${this.job.timeoutMs / 1000} s`;
          this.recorder.wasError(exchange, { kind: 'timeout', text }, intended, now);
          this.noteEnd(now, intended);
          this.onFree();
        }
      }
    } else if (this.isDone() || now >= this.endMs + this.graceMs) {
      this.finish(now);
    }
  }

  isDone() {
    const { deliveries } = this.recorder;
    const closing = this.pool?.closing ?? 0;
    return this.isSent() && closing === 0 && (deliveries === null || deliveries.awaited === 0);
  }

  /** Return whether all due requests were sent and answered. */
  isSent() {
    return this.inFlight === 0;
  }

  /** Return the exchange for the send at this place in the order of all processes' sends. */
  exchangeAt(/** @type {number} */ place) {
    return this.exchanges[this.order[place % this.order.length]];
  }

  get full() {
    return !this.pool?.isOpenLoop && this.connections.size >= this.job.connections;
  }

  /**
   * Return the connection that has been idle longest, so that all workers of a server receive a share of the load. The
   * server may be about to close connections that have been idle for too long, so these connections are used only if no
   * other connection is idle.
   *
   * @param {Exchange} exchange
   */
  takeIdle(exchange) {
    if (exchange.closes) {
      return undefined;
    }
    if (this.pool?.roundRobin) {
      return this.idle.shift();
    }
    const usedSince = nowMs() - MAX_IDLE_SHARE * this.job.idleMs;
    const place = this.idle.findIndex((connection) => connection.handedAt >= usedSince);
    return place < 0 ? this.idle.pop() : this.idle.splice(place, 1)[0];
  }

  open() {
    const connection = this.protocol.connect(this.job, this, this.pool);
    this.connections.add(connection);
    return connection;
  }

  /** The number of answers that the server owes. */
  get owed() {
    return this.inFlight;
  }

  drop(/** @type {Connection} */ connection) {
    this.connections.delete(connection);
    this.inFlight--;
    connection.destroy();
  }

  stop() {
    this.finish(nowMs());
  }

  /** End the slice: give up outstanding requests, and leave idle connections open. */
  finish(/** @type {number} */ now) {
    if (this.finished) {
      return;
    }
    this.finished = true;
    const inVain = now >= this.endMs + this.graceMs && !this.isDone();
    clearInterval(this.looking);
    for (const connection of this.connections) {
      if (connection.busy) {
        if (this.recorder.counts(connection.intended)) {
          this.recorder.failed.record(now - connection.intended);
        }
        this.drop(connection);
      }
    }
    this.countPlanned(now);
    this.recorder.end(now);
    this.recorder.deliveries?.end(now);
    this.pool?.end?.();
    this.resolve(inVain);
  }

  /** Count the requests that were due in the slice until now. In a closed loop, these are the sent requests. */
  countPlanned(/** @type {number} */ _now) {
    for (const exchange of this.exchanges) {
      exchange.planned = exchange.sent;
    }
  }

  close() {
    this.finish(nowMs());
    for (const connection of this.connections) {
      connection.destroy();
    }
    this.silent.close();
    const connections = this.pool?.measured?.() ?? null;
    const streams = this.pool?.streams?.() ?? [];
    this.ending = this.pool?.close();
    return { ...this.recorder.measured(this.job.rate === null), connections, streams, handshakes: tlsOf(this.job)?.handshakes ?? null };
  }

  async listen() {
    if (this.recorder.deliveries !== null) {
      await sleep(Math.max(0, this.endMs + this.job.listenMs - nowMs()));
    }
  }

  async ended() {
    await this.ending;
  }

  // Called by connections.

  counts(/** @type {number} */ intended) {
    return this.recorder.counts(intended);
  }

  onSent(/** @type {Connection} */ connection, /** @type {number} */ at) {
    this.recorder.wasSent(connection.exchange, connection.intended, at);
  }

  onOk(/** @type {Connection} */ connection, /** @type {number} */ at) {
    this.noteEnd(at, connection.intended);
    this.recorder.wasOk(connection.exchange, connection.intended, connection.sentAt, at, connection.how);
    this.release(connection);
  }

  /** @type {Owner['onFailed']} */
  onFailed(connection, at, failure) {
    const how = failure.kind === 'status' ? connection.how : failure.kind;
    this.recorder.wasError(connection.exchange, failure, connection.intended, at, how);
    this.noteEnd(at, connection.intended);
    setImmediate(() => this.release(connection)); // some connections can't be used while they report an error
  }

  /** Tell the slice's clock that a request was answered or failed. */
  noteEnd(/** @type {number} */ at, /** @type {number} */ intended) {
    this.clock.ended(at, intended, this.owed);
  }

  release(/** @type {Connection} */ connection) {
    if (this.connections.has(connection)) {  // if the connection is missing, its request was given up earlier
      if (connection.exchange.closes) {
        this.drop(connection);
      } else {
        this.inFlight--;
        this.idle.push(connection);
      }
      this.onFree();
    }
  }

  /** Called when a connection becomes free. */
  onFree() {}
}
