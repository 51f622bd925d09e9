// Measure the length of a slice without the server's pauses, so that a pause makes its slice longer.
//
// Otherwise, a slice could end during a pause and omit a part of it. The next slice would then always start right after
// a pause, so the position of the next pause would not be random.

/** @import { Slice } from './types.ts' */

// A slice settles for ten times the answer time of an idle server (loadtests/plan/slices.py). A gap that is longer than
// a tenth of the settling time is a pause.
const SETTLING_GAPS = 10;

/**
 * Measure the pauses of a server. A pause is the time in which the server owed answers and sent none, minus the time
 * that an answer usually takes. The time to answer the requests that waited during the pause is added to the pause, but
 * at most doubles it, because an overloaded server never catches up.
 *
 * A server that works on several requests at once may answer all of them together. The usual time of an answer
 * therefore grows with the number of answers that the server owed at its last answer.
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

  /** Record that a request became due while the server owed no other answer. */
  owesFrom(/** @type {number} */ due) {
    this.sinceMs = Math.max(this.sinceMs, due);
    this.owed = 1;
  }

  /** Record that one of the `owed` outstanding requests was answered or failed. */
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

  /** Return the length of all pauses until `now`. Call this method only while the server owes an answer. */
  pausedUntil(/** @type {number} */ now) {
    return this.pausedMs + Math.max(0, now - this.sinceMs - Math.max(this.longestGapMs, this.answerMs * this.owed));
  }
}
