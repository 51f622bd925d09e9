// One stream at one receiver.

/** @typedef {{at: number, overtaken: boolean, duplicate: number}} Early an arrival before its expectation */

/** What a receiver lacks that is no more counts as due then: before all that is waited for. */
export const GONE = -Infinity;

/** The numbers from `first` to before `next` were expected; those not missing have come. */
export class Inbox {
  constructor() {
    this.first = 0;
    this.next = 0;
    this.highest = -1; // of those that have come
    /** @type {Map<number, number>} by number, when it was due to be sent */
    this.missing = new Map();
    /** @type {Map<number, Early> | null} by number, what came before it was expected */
    this.early = null;
    /** @type {Set<number> | null} */
    this.withdrawn = null;
  }

  /** How many are under way, up to a number. */
  until(/** @type {number} */ number) {
    let count = 0;
    for (let k = Math.max(this.highest + 1, this.first); k <= number && k < this.next; k++) {
      count += (this.missing.get(k) ?? GONE) === GONE ? 0 : 1;
    }
    return count;
  }

  /**
   * @param {number} number
   * @param {number} at
   * @param {boolean} overtaken
   */
  arrivedEarly(number, at, overtaken) {
    this.early ??= new Map();
    const before = this.early.get(number);
    if (before === undefined) {
      this.early.set(number, { at, overtaken, duplicate: 0 });
    } else {
      before.duplicate++;
    }
  }
}
