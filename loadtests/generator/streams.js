// Keep several event streams open at the same time. Their clients stay until the end or leave early.

import { randomUUID } from 'node:crypto';

import { callAt, nowMs } from './clock.js';
import { EventScanner } from './event_scanner.js';
import { HttpConnection, protocol as http } from './protocols/http.js';
import { readDelay } from './read_delay.js';
import { uniforms } from './schedule.js';
import { Endings, StreamTally } from './stream_tally.js';
import { ask, withTicket } from './ticket.js';
import { asUser } from './turns.js';

/** @import { Stream } from './stream_tally.js' */
/** @import { Connection, Failure, Job, Owner, Request, Slice, Streams } from './types.ts' */

const AGAIN_MS = 1000; // the delay until the next stream starts after a broken stream
const ASK_EVERY_MS = 250; // the interval between requests that ask which views have ended

/**
 * A fixed number of simultaneous streams during a slice. When a stream ends, the next stream starts. The first streams
 * start at different times within the length of a stream, so that they aren't synchronized. No stream starts after the
 * slice's end, and running streams may end within the grace period.
 *
 * @implements {Owner}
 */
export class EventStreams {
  endMs = 0;
  /** @type {Map<Connection, Stream>} */
  live = new Map();
  token = randomUUID(); // the name of these streams in requests, so that the server can report which views have ended

  /** @param {Job} job @param {Streams} streams */
  constructor(job, streams) {
    this.job = job;
    this.streams = streams;
    this.exchange = exchangeOf(job, streams.request);
    this.tally = new StreamTally(streams.events, streams.intervalMs);
    this.endings = streams.endings && new Endings();
  }

  begin(/** @type {Slice} */ { start, settleMs, durationMs, arrivalSeed }) {
    if (durationMs === 0) {
      return; // a warm-up
    }
    const { count, events, intervalMs } = this.streams;
    const from = start + settleMs;
    this.endMs = from + durationMs;
    const chance = uniforms((arrivalSeed ?? 0) + this.job.index);
    for (let k = 0; k < count; k++) {
      this.open(from + ((k + chance()) / count) * events * intervalMs);
    }
    callAt(this.endMs, () => this.askEndings());
  }

  /** Ask the server repeatedly which views have ended, until all views have ended or the slice is over. */
  askEndings() {
    const { endings } = this;
    const request = this.streams.endings;
    if (endings && request && this.endMs > 0) {
      const { headers, path } = asUser(noted(request, this.token), 0);
      ask({ ...this.job, headers }, 'GET', path).then(
        ({ text }) => endings.heard(text, nowMs()),
        () => {}, // the next request may succeed
      );
      setTimeout(() => this.askEndings(), ASK_EVERY_MS);
    }
  }

  open(/** @type {number} */ dueMs) {
    if (dueMs < this.endMs) {
      callAt(dueMs, () => this.begun(dueMs));
    }
  }

  begun(/** @type {number} */ dueMs) {
    if (this.endMs > 0) { // not after an early end of the slice
      const connection = new EventConnection(this.job, this);
      const stream = this.tally.begin(dueMs);
      this.live.set(connection, stream);
      this.send(connection, dueMs, stream.number);
      if (this.streams.leaveMs !== null) {
        callAt(dueMs + this.streams.leaveMs, () => this.leave(connection));
      }
    }
  }

  /** @param {Connection} connection @param {number} dueMs @param {number} number */
  send(connection, dueMs, number) {
    const { job, streams } = this;
    const own = asUser(streams.request, number);
    const next = streams.endings ? noted(own, `${this.token}.${number}`) : own;
    if (own.ticket === '') {
      connection.send(streams.endings ? exchangeOf(job, next) : this.exchange, dueMs);
      return;
    }
    withTicket({ ...job, headers: own.headers }, own.ticket, next.path).then(
      (path) => this.live.has(connection) && connection.send(exchangeOf(job, { ...next, path }), dueMs),
      (error) => this.onFailed(connection, nowMs(), { kind: 'other', text: `no ticket: ${error.message}` }),
    );
  }

  leave(/** @type {Connection} */ connection) {
    const stream = this.live.get(connection);
    if (stream !== undefined) {
      this.live.delete(connection);
      this.tally.wasLeft(stream);
      connection.destroy();
      const at = nowMs();
      this.endings?.left(stream.number, at);
      this.open(at);
    }
  }

  get closing() {
    return this.live.size + (this.endings?.waiting.size ?? 0);
  }

  end() {
    const now = nowMs();
    this.endMs = 0;
    for (const [connection, stream] of this.live) {
      this.tally.givenUp(stream, now);
      connection.destroy();
    }
    this.live.clear();
  }

  counts() {
    return true;
  }

  // Called by connections.

  onSent() {}

  onEvent(/** @type {Connection} */ connection, /** @type {number} */ at) {
    const stream = this.live.get(connection);
    if (stream !== undefined) {
      this.tally.came(stream, at, readDelay.waited(at), at <= this.endMs);
    }
  }

  onOk(/** @type {Connection} */ connection, /** @type {number} */ at) {
    this.over(connection, at, '');
  }

  onFailed(/** @type {Connection} */ connection, /** @type {number} */ at, /** @type {Failure} */ { text }) {
    this.over(connection, at, text);
  }

  over(/** @type {Connection} */ connection, /** @type {number} */ at, /** @type {string} */ failure) {
    const stream = this.live.get(connection);
    if (stream === undefined) {
      return;
    }
    const { broken } = this.tally;
    this.live.delete(connection);
    this.tally.ended(stream, failure);
    setImmediate(() => connection.destroy()); // some connections can't be destroyed while they report an outcome
    this.open(this.tally.broken > broken ? at + AGAIN_MS : at);
  }
}

/** @param {Job} job @param {Request} request */
function exchangeOf(job, request) {
  return http.exchange({ ...request, closes: true }, job);
}

/** @param {Request} request @param {string} note @returns {Request} */
function noted(request, note) {
  return { ...request, path: `${request.path}${request.path.includes('?') ? '&' : '?'}note=${note}` };
}

/** A connection that reports each event. After the first event, the connection reads nothing for a while. */
class EventConnection extends HttpConnection {
  scanner = new EventScanner();

  /** @param {Job} job @param {EventStreams} owner */
  constructor(job, owner) {
    super(job, owner);
    this.streams = owner;
    this.pauseMs = owner.streams.pauseMs;
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    readDelay.begin();
    const at = nowMs();
    if (this.status === this.exchange.status) {
      this.scanner.scan(chunk, () => {
        this.streams.onEvent(this, at);
        this.rest();
      });
    }
    super.onData(chunk);
  }

  rest() {
    if (this.pauseMs > 0) {
      this.socket?.pause();
      setTimeout(() => this.socket?.resume(), this.pauseMs);
      this.pauseMs = 0;
    }
  }
}
