// Keep several event streams open at the same time. Their clients stay until the end or leave early.

import { callAt, nowMs } from './clock.js';
import { readDelay } from './read_delay.js';
import { uniforms } from './schedule.js';
import { Endings, StreamTally } from './stream_tally.js';

/** @import { Stream } from './stream_tally.js' */
/** @import { Connection, Failure, Owner, Slice, Streams } from './types.ts' */

const AGAIN_MS = 1000; // the delay until the next stream starts after a broken stream
const ASK_EVERY_MS = 250; // the interval between requests that ask which views have ended

/**
 * Functions that connect to the server, send the request of a stream, and ask the server which views have ended.
 *
 * @typedef {object} Asking
 * @property {(owner: EventStreams) => Connection} connect
 * @property {(connection: Connection, dueMs: number, number: number) => void} send
 * @property {(heard: (text: string, at: number) => void) => void} endings
 */

/**
 * A fixed number of simultaneous streams during a slice. When a stream ends, the next stream starts. The first streams
 * start at different times within the length of a stream, so that they aren't synchronized. No stream starts after the
 * slice's end, and running streams may end within the grace period.
 *
 * @implements {Owner}
 */
export class EventStreams {
  deliveries = null;
  endMs = 0;
  /** @type {Map<Connection, Stream>} */
  live = new Map();

  /**
   * @param {Streams} streams
   * @param {number} seed
   * @param {Asking} asking
   */
  constructor({ count, events, intervalMs, leaveMs, endings }, seed, asking) {
    this.asking = asking;
    this.count = count;
    this.lengthMs = events * intervalMs;
    this.leaveMs = leaveMs;
    this.seed = seed;
    this.tally = new StreamTally(events, intervalMs);
    this.endings = endings && new Endings();
  }

  begin(/** @type {Slice} */ { start, settleMs, durationMs, arrivalSeed }) {
    if (durationMs === 0) {
      return; // a warm-up
    }
    const from = start + settleMs;
    this.endMs = from + durationMs;
    const chance = uniforms((arrivalSeed ?? 0) + this.seed);
    for (let k = 0; k < this.count; k++) {
      this.open(from + ((k + chance()) / this.count) * this.lengthMs);
    }
    if (this.endings) {
      callAt(this.endMs, () => this.ask());
    }
  }

  /** Ask the server repeatedly which views have ended, until all views have ended or the slice is over. */
  ask() {
    if (this.endings && this.endMs > 0) {
      const { endings } = this;
      this.asking.endings((text, at) => endings.heard(text, at));
      setTimeout(() => this.ask(), ASK_EVERY_MS);
    }
  }

  open(/** @type {number} */ dueMs) {
    if (dueMs < this.endMs) {
      callAt(dueMs, () => this.begun(dueMs));
    }
  }

  begun(/** @type {number} */ dueMs) {
    if (this.endMs > 0) { // not after an early end of the slice
      const connection = this.asking.connect(this);
      const stream = this.tally.begin(dueMs);
      this.live.set(connection, stream);
      this.asking.send(connection, dueMs, stream.number);
      if (this.leaveMs !== null) {
        callAt(dueMs + this.leaveMs, () => this.leave(connection));
      }
    }
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

  streams() {
    return this.tally.counts(this.endings?.counts() ?? null);
  }

  close() {}

  // Called by connections.

  counts() {
    return true;
  }

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

/** A pool of several kinds of streams. */
export class StreamsTogether {
  deliveries = null;

  /** @param {EventStreams[]} parts */
  constructor(parts) {
    this.parts = parts;
  }

  begin(/** @type {Slice} */ slice) {
    this.parts.forEach((part) => part.begin(slice));
  }

  get closing() {
    return this.parts.reduce((sum, part) => sum + part.closing, 0);
  }

  end() {
    this.parts.forEach((part) => part.end());
  }

  streams() {
    return this.parts.map((part) => part.streams());
  }

  close() {}
}
