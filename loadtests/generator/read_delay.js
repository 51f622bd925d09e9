// Estimate how long received data may have waited in the generator.

import { nowMs } from './clock.js';

/**
 * The event loop asks the kernel for new data, handles all of it, one connection after the other, and asks again. Data
 * that arrives during such a turn waits for its end. So the data that is read now may have waited since the start of
 * the turn before. If that turn read nothing, the data arrived after it.
 *
 * This is an upper bound, not a measured delay: most data waited for less. It isn't the maximum fault of the
 * generator's machine either. The time to wait for a core isn't visible from within the process, and if a connection
 * had more data than one read returns, the rest waited longer.
 */
export class ReadDelay {
  reads = false; // something was read in this turn
  hooked = false; // on the end of this turn
  followed = false; // the turn before this one read something, too
  began = 0;  // when the last turn with a read started
  since = 0;  // the earliest time when the current data may have arrived

  /** Call this before reading. */
  begin() {
    if (this.reads) {
      return;
    }
    const now = nowMs();
    this.reads = true;
    this.since = this.followed ? this.began : now;
    this.began = now;
    this.hook();
  }

  hook() {
    if (!this.hooked) {
      this.hooked = true;
      setImmediate(this.endOfTurn); // comes once all that was found has been dealt with
    }
  }

  endOfTurn = () => {
    this.hooked = false;
    this.followed = this.reads;
    this.reads = false;
    if (this.followed) {
      this.hook(); // also on a turn that reads nothing
    }
  };

  /** The time in milliseconds that the current data may have waited. */
  waited(/** @type {number} */ now) {
    return now - this.since;
  }
}

/** That of the one event loop that there is. */
export const readDelay = new ReadDelay();
