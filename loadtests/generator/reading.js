// How long what is read may have lain in the generator.

import { nowMs } from './clock.js';

/**
 * The event loop asks the kernel what has come, deals with all of it, one connection after the other, and asks again. What
 * comes while it deals with a turn waits for the end of it. So what is read now may have lain there since the turn before
 * began; where nothing was read in that, it was asked in vain, and what is read now has come since.
 *
 * So it is no measured lateness: most of what is read was kept for less. Nor is it the most that the generator's machine can
 * be at fault for: how long the kernel let it wait for a core is not seen from within, and of a connection of which more had
 * come than one reading takes, the rest lay there for longer.
 */
export class Reading {
  constructor() {
    this.isReading = false; // something was read in this turn
    this.isLooking = false; // at the end of it
    this.followed = false; // the turn before this one read something, too
    this.began = 0; // when the turn that read last began to
    this.since = 0; // since when what is read now may have lain there
    this.endOfTurn = this.endOfTurn.bind(this);
  }

  /** To be called before something is read. */
  begin() {
    if (this.isReading) {
      return;
    }
    const now = nowMs();
    this.isReading = true;
    this.since = this.followed ? this.began : now;
    this.began = now;
    this.look();
  }

  look() {
    if (!this.isLooking) {
      this.isLooking = true;
      setImmediate(this.endOfTurn); // comes once all that was found has been dealt with
    }
  }

  endOfTurn() {
    this.isLooking = false;
    this.followed = this.isReading;
    this.isReading = false;
    if (this.followed) {
      this.look(); // whether the next turn reads, which it does not wait for
    }
  }

  /**
   * How long what is read now may have lain there, in milliseconds.
   *
   * @param {number} now
   */
  waited(now) {
    return now - this.since;
  }
}

/** That of the one event loop that there is. */
export const reading = new Reading();
