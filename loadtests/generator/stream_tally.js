// The results of streams of events, the delays of their events, and the views whose client left.

import { Times } from './times.js';

/** @import { LeftCounts, StreamCounts } from './types.ts' */

const OVERDUE_MS = 1000; // an event that is later than this when its stream is given up is missing
const LATE_MS = 1000;  // a view that runs for longer than this after its client left

/** A stream. It was due at `dueMs`, and its request contains `number`. */
export class Stream {
  came = 0; // events
  earliest = Infinity; // the smallest offset
  /** @type {number[]} */
  offsets = []; // of each arrived event, up to the planned number: its time minus its place times the interval

  /** @param {number} dueMs @param {number} number */
  constructor(dueMs, number) {
    this.dueMs = dueMs;
    this.number = number;
  }
}

/**
 * The results of streams. Only the server knows when it meant to send an event. The tally assumes the schedule of the
 * stream's most punctual event, and measures each other event's delay from it. If an answer was collected and sent at
 * once, its events are therefore late, and the first one is the latest.
 */
export class StreamTally {
  begun = 0;
  whole = 0;
  broken = 0; // by the server, at any time
  unanswered = 0; // given up without a single event
  cut = 0;  // other streams that were running at that time
  left = 0; // streams whose client left
  answered = 0; // streams that had a first event
  events = 0;
  inTime = 0; // of these, before the slice's end
  missing = 0; // due events of streams that were broken off or cut
  most = 0;  // the maximum number of simultaneous streams
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
    return new Stream(dueMs, this.begun);
  }

  /** An event arrived. `lay` is the time that it may have waited in the generator. */
  came(/** @type {Stream} */ stream, /** @type {number} */ at, lay = 0, inTime = true) {
    if (stream.came === 0) {
      this.answered++;
      this.first.record(at - stream.dueMs);
      this.most = Math.max(this.most, ++this.underWay);
    }
    if (stream.came < this.eventsEach) { // a server that sends more may never stop
      const offset = at - stream.came * this.intervalMs;
      stream.earliest = Math.min(stream.earliest, offset);
      stream.offsets.push(offset);
    }
    stream.came++;
    this.events++;
    this.inTime += inTime ? 1 : 0;
    this.reading.record(lay);
  }

  /** The server ended the stream. This is correct, unless events are missing or there is a failure. */
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

  /** Give up the stream, because the grace period is over. */
  givenUp(/** @type {Stream} */ stream, /** @type {number} */ at) {
    const came = this.close(stream);
    if (came === 0) {
      this.unanswered++;
      return;
    }
    this.cut++;
    const due = Math.floor((at - OVERDUE_MS - stream.earliest) / this.intervalMs) + 1;
    this.missing += Math.max(0, Math.min(due, this.eventsEach) - came);
  }

  /** The stream's client left. */
  wasLeft(/** @type {Stream} */ stream) {
    this.close(stream);
    this.left++;
  }

  close(/** @type {Stream} */ { came, offsets, earliest }) {
    if (came > 0) {
      this.underWay--;
      offsets.forEach((offset) => this.delay.record(offset - earliest));
    }
    return came;
  }

  /** @param {LeftCounts | null} left @returns {StreamCounts} */
  counts(left = null) {
    const { begun, whole, broken, unanswered, cut, answered, events, inTime, missing, most, example } = this;
    const spreads = { first: this.first.spread(), delay: this.delay.spread(), reading: this.reading.spread() };
    const ends = { begun, whole, broken, unanswered, cut, answered };
    return { ...ends, events, in_time: inTime, missing, most, ...spreads, reason: example, left };
  }
}

/** The clients that left, and the ends of their views. The load asks the server until all ends are known. */
export class Endings {
  clients = 0;
  late = 0;  // the ends of views that are known to have ended
  after = new Times();
  /** @type {Set<number>} */
  running = new Set();  // views that have started and not ended
  /** @type {Map<number, number>} */
  waiting = new Map(); // the time when a client left, by the number of its stream

  left(/** @type {number} */ number, /** @type {number} */ at) {
    this.clients++;
    this.waiting.set(number, at);
  }

  /**
   * Read a line for each view that has started: its number, and the seconds since its end, or `-` while it runs.
   *
   * @param {string} text
   * @param {number} at the time of the answer
   */
  heard(text, at) {
    this.running.clear();
    for (const line of text.split('\n')) {
      const [name, ago] = line.split(' ');
      const number = Number(name);
      const leftAt = this.waiting.get(number);
      if (leftAt !== undefined && ago === '-') {
        this.running.add(number);
      } else if (leftAt !== undefined) {
        const ms = Math.max(0, at - Number(ago) * 1000 - leftAt);
        this.waiting.delete(number);
        this.after.record(ms);
        this.late += ms > LATE_MS ? 1 : 0;
      }
    }
  }

  /** @returns {LeftCounts} */
  counts() {
    const { clients, late, waiting, running } = this;
    return { clients, ended: clients - waiting.size, running: running.size, late: late + running.size, after: this.after.spread() };
  }
}
