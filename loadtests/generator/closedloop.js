// As fast as a number of connections are answered: each sends as soon as it has been.

import { nowMs } from './clock.js';
import { Load } from './load.js';

/** @import { Connection, Slice } from './types.ts' */

export class ClosedLoop extends Load {
  next = 0;

  run(/** @type {Slice} */ slice) {
    const over = super.run(slice);
    this.begin();
    return over;
  }

  /** Sends as soon as it is time: timers drop the fraction of a millisecond, and are early. */
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
    if (nowMs() < this.endMs) {
      while (this.idle.length > 0 || !this.full) {
        this.inFlight++;
        const exchange = this.exchangeAt(this.job.index + this.next++ * this.job.processes);
        (this.takeIdle(exchange) ?? this.open()).send(exchange, 0); // its intended time is set when it is sent
      }
    } else if (this.isDone()) {
      this.finish(nowMs());
    }
  }

  /** A request is intended when it is sent. */
  onSent(/** @type {Connection} */ connection, /** @type {number} */ at) {
    connection.intended = at;
    super.onSent(connection, at);
  }
}
