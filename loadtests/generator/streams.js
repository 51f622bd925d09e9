// Streams of events, a number of them at once: how each went, and how late its events came.

import { nowMs } from './clock.js';
import { readDelay } from './read_delay.js';
import { uniforms } from './schedule.js';
import { Times } from './times.js';

/** @import { Connection, Failure, Job, Owner, Slice, StreamCounts, Streams } from './types.ts' */

const AGAIN_MS = 1000; // after a stream that was broken off
const OVERDUE_MS = 1000; // an event that is later than that when its stream is given up is missing

/** One stream: it was due at `dueMs`. */
export class Stream {
  /** @type {number[]} */
  offsets = []; // of each event that came: when it did, less its place times the interval

  /** @param {number} dueMs */
  constructor(dueMs) {
    this.dueMs = dueMs;
  }
}

/**
 * What became of streams. When the server meant to send an event only the server knows. It is taken to keep the schedule
 * that its most punctual event kept: each of the others is late by what it came after that. So an answer that was collected
 * and came at once has late events, the first one most of all.
 */
export class StreamTally {
  begun = 0;
  whole = 0;
  broken = 0; // by the server, at any time
  unanswered = 0; // without a single event when given up
  cut = 0; // others that were under way then
  answered = 0; // had a first event
  events = 0;
  inTime = 0; // of these, before the slice's end
  missing = 0; // events that were due, of streams that were broken off or cut
  most = 0; // that were under way at once
  underWay = 0; // from the first event on
  first = new Times();
  delay = new Times();
  reading = new Times();
  example = ''; // of a failure

  /** @param {number} events of a stream @param {number} intervalMs */
  constructor(events, intervalMs) {
    this.eventsEach = events;
    this.intervalMs = intervalMs;
  }

  begin(/** @type {number} */ dueMs) {
    this.begun++;
    return new Stream(dueMs);
  }

  /** An event came; `lay` is for how long it may have lain here. */
  came(/** @type {Stream} */ stream, /** @type {number} */ at, lay = 0, inTime = true) {
    const { offsets } = stream;
    if (offsets.length === 0) {
      this.answered++;
      this.first.record(at - stream.dueMs);
      this.most = Math.max(this.most, ++this.underWay);
    }
    offsets.push(at - offsets.length * this.intervalMs);
    this.events++;
    this.inTime += inTime ? 1 : 0;
    this.reading.record(lay);
  }

  /** The server ended it: as it should be, unless events are missing or it says why. */
  ended(/** @type {Stream} */ stream, failure = '') {
    const came = this.close(stream);
    if (failure === '' && came === this.eventsEach) {
      this.whole++;
    } else {
      this.broken++;
      this.missing += came > 0 ? Math.max(0, this.eventsEach - came) : 0;
      this.example ||= failure || `a stream ended after ${came} of ${this.eventsEach} events`;
    }
  }

  /** It is given up: nobody waits for it any longer. */
  givenUp(/** @type {Stream} */ stream, /** @type {number} */ at) {
    const came = this.close(stream);
    if (came === 0) {
      this.unanswered++;
      return;
    }
    this.cut++;
    const due = Math.floor((at - OVERDUE_MS - Math.min(...stream.offsets)) / this.intervalMs) + 1;
    this.missing += Math.max(0, Math.min(due, this.eventsEach) - came);
  }

  close(/** @type {Stream} */ { offsets }) {
    if (offsets.length > 0) {
      this.underWay--;
      const schedule = Math.min(...offsets);
      offsets.forEach((offset) => this.delay.record(offset - schedule));
    }
    return offsets.length;
  }

  /** @returns {StreamCounts} */
  counts() {
    const { begun, whole, broken, unanswered, cut, answered, events, inTime, missing, most, example } = this;
    const spreads = { first: this.first.spread(), delay: this.delay.spread(), reading: this.reading.spread() };
    const ends = { begun, whole, broken, unanswered, cut, answered };
    return { ...ends, events, in_time: inTime, missing, most, ...spreads, reason: example };
  }
}

/**
 * A number of streams at once while a slice lasts: each that has ended begins again. The first ones begin spread over the
 * length of a stream, so that they are not in step; none begins after the slice's end. Those under way then have its grace
 * period.
 *
 * @implements {Owner}
 */
export class EventStreams {
  deliveries = null;
  endMs = 0;
  /** @type {Map<Connection, Stream>} */
  live = new Map();

  /**
   * @param {Job} job
   * @param {(owner: EventStreams) => Connection} connect
   * @param {(connection: Connection, dueMs: number) => void} send
   */
  constructor(job, connect, send) {
    const { count, events, intervalMs } = /** @type {Streams} */ (job.streams);
    this.connect = connect;
    this.send = send;
    this.count = count;
    this.lengthMs = events * intervalMs;
    this.seed = job.index;
    this.tally = new StreamTally(events, intervalMs);
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
  }

  open(/** @type {number} */ dueMs) {
    if (dueMs < this.endMs) {
      setTimeout(() => this.begun(dueMs), dueMs - nowMs());
    }
  }

  begun(/** @type {number} */ dueMs) {
    if (this.endMs > 0) { // else the slice was ended before its time
      const connection = this.connect(this);
      this.live.set(connection, this.tally.begin(dueMs));
      this.send(connection, dueMs);
    }
  }

  get closing() {
    return this.live.size;
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
    return this.tally.counts();
  }

  close() {}

  // What a connection calls.

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
    setImmediate(() => connection.destroy()); // not every client can be destroyed while it reports
    this.open(this.tally.broken > broken ? at + AGAIN_MS : at);
  }
}
