// Measure the length of a slice without the server's pauses.
//
// If a slice ended during a pause, the slice would hide the pause. The next slice would always start right after a
// pause, so the position of the next pause in its slice would not be random. A pause therefore makes its slice longer.

/** @import { Slice } from './types.ts' */

// A slice settles for ten times the answer time of an idle server (loadtests/plan/slices.py). A gap that is longer than
// a tenth of the settling time is a pause.
const SETTLING_GAPS = 10;

/**
 * Measure the pauses of a server. A pause is the time in which the server owed answers and sent none, minus the usual
 * time of an answer. The time to answer the requests that waited during the pause is added, but at most the length of
 * the pause, because an overloaded server never catches up.
 *
 * A server that works on several requests at once may answer all of them together. The usual time therefore grows with
 * the number of answers that the server owed at its last answer.
 */
export class SliceClock {
  pausedMs = 0;
  catchUpMs = 0; // late answers within this time belong to the last pause
  sinceMs = 0; // the time of the last answer, or of the first request after a time without requests
  owed = 1; // the number of outstanding answers at `sinceMs`

  /** @param {Slice} slice @param {number} answerMs @param {boolean} moves whether pauses make this slice longer */
  constructor({ start, settleMs, durationMs, measured }, answerMs, moves = true) {
    this.answerMs = answerMs;
    const isOneOfSeveral = settleMs > 0 && durationMs > 0 && measured.ofMs > durationMs;
    this.longestGapMs = moves && isOneOfSeveral ? settleMs / SETTLING_GAPS : Infinity;
    this.sinceMs = start;
  }

  get moves() {
    return this.longestGapMs < Infinity;
  }

  /** Handle a request that is due while the server owes no other answer. */
  owesFrom(/** @type {number} */ due) {
    this.sinceMs = Math.max(this.sinceMs, due);
    this.owed = 1;
  }

  /** Handle the answer or the failure of one of the `owed` outstanding requests. */
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

  /** Return the length of all pauses until `now`. Call this only while the server owes an answer. */
  pausedUntil(/** @type {number} */ now) {
    return this.pausedMs + Math.max(0, now - this.sinceMs - Math.max(this.longestGapMs, this.answerMs * this.owed));
  }
}
