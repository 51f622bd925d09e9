// A closed loop over several connections: each connection sends its next request as soon as it receives an answer.
//
// A slice is measured from the first answer after its start to the first answer after its end. If the server pauses,
// the pause belongs completely to the slice in which it starts. The position of an edge (a start or an end) never
// depends on the answer after the edge, so the slices contain neither too many nor too few pauses. The rate of the
// slices is therefore the rate of an uninterrupted load.

import { nowMs } from './clock.js';
import { Load } from './load.js';

/** @import { Connection, Slice } from './types.ts' */

export class ClosedLoop extends Load {
  next = 0;
  isOver = false;
  answers = 0;
  turns = 0; // the number of answers that arrived on another connection than the previous answer
  /** @type {Connection | null} */
  lastAnswered = null;
  // The time by which the last slice exceeded its length. The next slice settles for that much less time, so that
  // pauses don't determine the positions of the edges.
  overrunMs = 0;

  run(/** @type {Slice} */ slice) {
    const over = super.run(slice);
    this.isOver = false;
    this.clock.pausedMs = -this.overrunMs;
    if (slice.settleMs > 0) {
      this.moveStart(Infinity); // until the server has settled
    }
    this.moveEnd(Infinity);
    this.begin();
    return over;
  }

  /** Start to send when the slice starts. Timers ignore the fraction of a millisecond, so they can fire too early. */
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
        (this.takeIdle(exchange) ?? this.open()).send(exchange, 0); // onSent sets the intended time
      }
    } else if (this.isDone()) {
      this.finish(nowMs());
    }
  }

  /** Start or end the measured part if this is the first answer after an edge. */
  noteEnd(/** @type {number} */ at) {
    super.noteEnd(at, at); // without a schedule, no request is late after a pause
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
      // No more answers will arrive, so the whole time is measured.
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

  /**
   * Return the mean number of consecutive answers on the same connection. The mean is null if there are no answers. It
   * is also null with fewer than four connections or with different requests, because these can explain long sequences.
   */
  answersInARow() {
    const isComparable = this.exchanges.length === 1 && this.job.connections >= 4 && this.turns > 0;
    return isComparable ? this.answers / this.turns : null;
  }

  close() {
    const measured = super.close();
    return { ...measured, answers_in_a_row: this.answersInARow() };
  }

  /** Use the time of the actual send as the intended time, because a closed loop has no schedule. */
  onSent(/** @type {Connection} */ connection, /** @type {number} */ at) {
    connection.intended = at;
    super.onSent(connection, at);
  }
}
