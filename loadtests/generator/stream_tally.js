// Record the results of event streams, the delays of their events, and the views whose client left.

import { Times } from './times.js';

/** @import { LeftCounts, StreamCounts } from './types.ts' */

const OVERDUE_MS = 1000; // when a stream is given up, events that are late by at least this time are missing
const LATE_MS = 1000;  // a view is late if it runs for longer than this time after its client left

/** A stream that was due at `dueMs`. Its request contains `number`. */
export class Stream {
  came = 0; // events
  earliest = Infinity; // the smallest offset
  /** @type {number[]} */
  offsets = []; // for each event up to the planned number, the arrival time minus index × interval

  /** @param {number} dueMs @param {number} number */
  constructor(dueMs, number) {
    this.dueMs = dueMs;
    this.number = number;
  }
}

/**
 * The results of streams. Only the server knows when it intended to send an event. The tally assumes that the stream's
 * most punctual event was on time, and measures the delays of the other events relative to that event. If a server
 * collects all events and sends them at once, the events are therefore late, and the first event has the longest delay.
 */
export class StreamTally {
  begun = 0;
  whole = 0;
  broken = 0; // streams that failed, or that the server ended with a wrong number of events
  unanswered = 0; // streams that were given up without a single event
  cut = 0;  // streams that were given up after an event
  left = 0; // streams whose client left
  answered = 0; // streams with at least one event
  events = 0;
  inTime = 0; // events before the slice's end
  missing = 0; // events that were due in broken or cut streams, but didn't arrive
  most = 0;  // the maximum number of simultaneous streams
  underWay = 0; // the number of streams that have had a first event and not ended
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

  /** Count an event that arrived. `lay` is the time that the event may have waited in the generator. */
  came(/** @type {Stream} */ stream, /** @type {number} */ at, lay = 0, inTime = true) {
    if (stream.came === 0) {
      this.answered++;
      this.first.record(at - stream.dueMs);
      this.most = Math.max(this.most, ++this.underWay);
    }
    if (stream.came < this.eventsEach) { // a server that sends more events may never stop
      const offset = at - stream.came * this.intervalMs;
      stream.earliest = Math.min(stream.earliest, offset);
      stream.offsets.push(offset);
    }
    stream.came++;
    this.events++;
    this.inTime += inTime ? 1 : 0;
    this.reading.record(lay);
  }

  /** Count a stream that the server ended. The stream is broken if there was a failure or a wrong number of events. */
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

  /** Count a stream that was given up because the grace period is over. */
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

  /** Count a stream whose client left. */
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

/** The clients that left, and when their views ended. The load asks the server until all views have ended. */
export class Endings {
  clients = 0;
  late = 0;  // the number of views that ended late
  after = new Times();
  /** @type {Set<number>} */
  running = new Set();  // views that have started but not ended
  /** @type {Map<number, number>} */
  waiting = new Map(); // the time when a client left, by the number of its stream

  left(/** @type {number} */ number, /** @type {number} */ at) {
    this.clients++;
    this.waiting.set(number, at);
  }

  /**
   * Read the server's answer. The answer has a line for each view that has started: the number of its stream, and the
   * seconds since the view's end, or `-` while the view runs.
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
