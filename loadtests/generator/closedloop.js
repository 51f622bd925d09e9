// A closed loop over a number of connections: each sends as soon as it gets an answer.
//
// A slice is measured from the first answer after its start to the first answer after its end. It contains all of a
// pause that starts in it, but no part of a pause that starts before it. The position of an edge never depends on the
// next answer, so pauses are neither preferred nor avoided. Slices therefore have the same rate as a load in one piece.

import { nowMs } from './clock.js';
import { Load } from './load.js';

/** @import { Connection, Slice } from './types.ts' */

export class ClosedLoop extends Load {
  next = 0;
  isOver = false;
  answers = 0;
  turns = 0; // how often the next answer came on another connection
  /** @type {Connection | null} */
  lastAnswered = null;
  overrunMs = 0; // of the last slice: the next one settles for less, so that pauses don't decide where edges are

  run(/** @type {Slice} */ slice) {
    const over = super.run(slice);
    this.isOver = false;
    this.clock.pausedMs = -this.overrunMs;
    if (slice.settleMs > 0) {
      this.moveStart(Infinity); // until it has settled
    }
    this.moveEnd(Infinity);
    this.begin();
    return over;
  }

  /** Sends as soon as it is time. Timers ignore the fraction of a millisecond, so they are early. */
  begin() {
    const wait = this.startMs - nowMs();
    if (wait > 0) {
      setTimeout(() => this.begin(), Math.ceil(wait));
    } else {
      this.onFree();
    }
  }

  onFree() {
    if (this.finished) {
      return;
    }
    if (!this.isOver) {
      while (this.idle.length > 0 || !this.full) {
        this.inFlight++;
        const exchange = this.exchangeAt(this.job.index + this.next++ * this.job.processes);
        (this.takeIdle(exchange) ?? this.open()).send(exchange, 0); // the intended time is set when the request is sent
      }
    } else if (this.isDone()) {
      this.finish(nowMs());
    }
  }

  /** Starts or ends the measured part if this is the first answer after its edge. */
  noteEnd(/** @type {number} */ at) {
    super.noteEnd(at, at); // no schedule, so no request is late after a pause
    const reached = at - this.clock.pausedMs;
    if (this.recorder.fromMs === Infinity && reached >= this.fromMs) {
      this.moveStart(at);
    }
    if (!this.isOver && reached >= this.endMs) {
      this.isOver = true;
      this.overrunMs = this.clock.moves ? reached - this.endMs : 0;
      this.moveEnd(at);
    }
  }

  moveStart(/** @type {number} */ at) {
    const { recorder } = this;
    recorder.lastBeforeMs = at;
    recorder.measureFrom(at);
    if (recorder.deliveries !== null) {
      recorder.deliveries.fromMs = at;
    }
  }

  moveEnd(/** @type {number} */ at) {
    const { recorder } = this;
    recorder.endMs = at;
    recorder.lastInTimeMs = at;
    if (recorder.deliveries !== null) {
      recorder.deliveries.endMs = at;
    }
  }

  finish(/** @type {number} */ now) {
    if (!this.finished && !this.isOver) {
      // No answer comes any more, so all of the time counts.
      if (this.recorder.fromMs === Infinity) {
        this.moveStart(Math.min(this.fromMs, now));
      }
      this.moveEnd(now);
    }
    super.finish(now);
  }

  /** @param {Connection} connection @param {number} at */
  onOk(connection, at) {
    if (this.counts(connection.intended)) {
      this.answers++;
      if (connection !== this.lastAnswered) {
        this.turns++;
        this.lastAnswered = connection;
      }
    }
    super.onOk(connection, at);
  }

  /** Return the mean number of consecutive answers on a connection, or null if different requests explain long runs. */
  answersInARow() {
    const isComparable = this.exchanges.length === 1 && this.job.connections >= 4 && this.turns > 0;
    return isComparable ? this.answers / this.turns : null;
  }

  close() {
    const measured = super.close();
    return { ...measured, answers_in_a_row: this.answersInARow() };
  }

  /** A request is intended when it is sent. */
  onSent(/** @type {Connection} */ connection, /** @type {number} */ at) {
    connection.intended = at;
    super.onSent(connection, at);
  }
}
