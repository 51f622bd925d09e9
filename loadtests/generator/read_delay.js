// How long what is read may have lain in the generator.

import { nowMs } from './clock.js';

/**
 * The event loop asks the kernel what has come, deals with all of it, one connection after the other, and asks again. What
 * comes while it deals with a turn waits for the end of it. So what is read now may have lain there since the turn before
 * began; where nothing was read in that, it found nothing, and what is read now has come since.
 *
 * This is no measured delay: most of what is read waited for less. Nor is it the most that the generator's machine can
 * be at fault for: how long the kernel let it wait for a core is not visible from within, and of a connection of which
 * more had come than one reading takes, the rest lay there for longer.
 */
export class ReadDelay {
  reads = false; // something was read in this turn
  hooked = false; // on the end of this turn
  followed = false; // the turn before this one read something, too
  began = 0; // when the turn that read last began to
  since = 0; // since when what is read now may have lain there

  /** To be called before something is read. */
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

  /** How long what is read now may have lain there, in milliseconds. */
  waited(/** @type {number} */ now) {
    return now - this.since;
  }
}

/** That of the one event loop that there is. */
export const readDelay = new ReadDelay();
