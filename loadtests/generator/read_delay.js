// Estimate how long received data may have waited in the generator.

import { nowMs } from './clock.js';

/**
 * An upper bound for the time that data waits for the event loop. In each turn, the event loop asks the kernel for new
 * data and handles all of it, one connection after the other. Data that arrives during a turn waits until the turn
 * ends. The data of this turn may therefore have waited since the start of the previous turn. If the previous turn read
 * nothing, the data arrived after that turn.
 *
 * Most data waited for a shorter time. The bound doesn't include all delays on the generator's machine: the process
 * can't see how long it waits for a core, and if a connection has more data than one read returns, the rest waits
 * longer.
 */
export class ReadDelay {
  reads = false; // whether this turn has read data
  hooked = false; // whether endOfTurn runs at the end of this turn
  followed = false; // whether the previous turn read data
  began = 0;  // the start of the last turn that read data
  since = 0;  // the earliest time when the current data may have arrived

  /** Call this before data is read. */
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
      setImmediate(this.endOfTurn); // runs when all data of this turn has been handled
    }
  }

  endOfTurn = () => {
    this.hooked = false;
    this.followed = this.reads;
    this.reads = false;
    if (this.followed) {
      this.hook(); // if the next turn reads nothing, it resets `followed`
    }
  };

  /** Return the milliseconds that the current data may have waited. */
  waited(/** @type {number} */ now) {
    return now - this.since;
  }
}

/** The estimate for this process's only event loop. */
export const readDelay = new ReadDelay();
