// Estimate how long received data may have waited in the generator.

import { nowMs } from './clock.js';

/**
 * The event loop asks the kernel for new data, handles all of it, one connection after the other, and asks again. Data
 * that arrives during such a turn waits until the turn ends. So the data of this turn may have waited since the start
 * of the previous turn. If the previous turn read nothing, the data arrived after it.
 *
 * This is an upper bound, not a measured delay: most data waited for a shorter time. But the delay on the generator's
 * machine can also be longer: the process can't see how long it waits for a core, and if a connection has more data
 * than one read returns, the rest waits longer.
 */
export class ReadDelay {
  reads = false; // something was read in this turn
  hooked = false; // called at the end of this turn
  followed = false; // the previous turn also read something
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
      setImmediate(this.endOfTurn); // called when all found data was handled
    }
  }

  endOfTurn = () => {
    this.hooked = false;
    this.followed = this.reads;
    this.reads = false;
    if (this.followed) {
      this.hook(); // also in a turn that reads nothing
    }
  };

  /** Return the milliseconds that the current data may have waited. */
  waited(/** @type {number} */ now) {
    return now - this.since;
  }
}

/** The estimate for this process's only event loop. */
export const readDelay = new ReadDelay();
