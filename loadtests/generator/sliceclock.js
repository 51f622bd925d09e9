// The length of a slice, without the server's pauses.
//
// A slice that ended during a pause would hide it. The next slice would also always start right after a pause, so that the
// position of the next pause in its slice would not be random. A pause therefore makes its slice longer.

/** @import { Slice } from './types.ts' */

// A slice settles for the time of ten answers of an idle server (loadtests/plan/slices.py). A longer gap is a pause.
const SETTLING_GAPS = 10;

/** Measures how long a server owed answers without sending any, minus the usual time of an answer, and how long the
 * requests that waited during the pause take afterwards. This is at most as long as the pause, because an overloaded
 * server never catches up.
 *
 * A server that works on several requests at once may answer all of them together. So the usual time grows with the
 * number of answers that it owed at its last answer. */
export class SliceClock {
  pausedMs = 0;
  catchUpMs = 0; // in this time, late answers belong to the last pause
  sinceMs = 0; // the last answer, or the first request after a rest
  owed = 1; // the number of outstanding answers at that time

  /** @param {Slice} slice @param {number} answerMs @param {boolean} moves false if pauses don't make this slice longer
   */
  constructor({ start, settleMs, durationMs, measured }, answerMs, moves = true) {
    this.answerMs = answerMs;
    const isOneOfSeveral = settleMs > 0 && durationMs > 0 && measured.ofMs > durationMs;
    this.longestGapMs = moves && isOneOfSeveral ? settleMs / SETTLING_GAPS : Infinity;
    this.sinceMs = start;
  }

  get moves() {
    return this.longestGapMs < Infinity;
  }

  /** A request is due, and the server owes no other answer. */
  owesFrom(/** @type {number} */ due) {
    this.sinceMs = Math.max(this.sinceMs, due);
    this.owed = 1;
  }

  /** One of the `owed` requests was answered, or failed. */
  ended(/** @type {number} */ at, /** @type {number} */ intended, /** @type {number} */ owed) {
    const pauseMs = this.pausedUntil(at) - this.pausedMs;
    if (pauseMs > 0) {
      this.pausedMs += pauseMs;
      this.catchUpMs = pauseMs;
    } else if (this.catchUpMs > 0) {
      const lateMs = at - intended > this.longestGapMs ? Math.min(at - this.sinceMs, this.catchUpMs) : 0;
      this.pausedMs += lateMs;
      this.catchUpMs = lateMs > 0 ? this.catchUpMs - lateMs : 0;
    }
    this.sinceMs = at;
    this.owed = owed;
  }

  /** Return the length of all pauses until `now`, while the server owes an answer. */
  pausedUntil(/** @type {number} */ now) {
    return this.pausedMs + Math.max(0, now - this.sinceMs - Math.max(this.longestGapMs, this.answerMs * this.owed));
  }
}
