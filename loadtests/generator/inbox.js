// The messages of one stream at one receiver.

/** The due time of a lost receiver's messages, which is before all awaited messages. */
export const GONE = -Infinity;

/** The numbers from `first` to before `next` were expected. Those that aren't missing have arrived. */
export class Inbox {
  first = 0;
  next = 0;
  highest = -1;  // the highest number that has arrived
  /** @type {Map<number, number>} by number, when it was due to be sent */
  missing = new Map();
  /** @type {Map<number, {at: number, waited: number, overtaken: boolean, duplicate: number}> | null} arrivals not yet expected */
  early = null;
  /** @type {Set<number> | null} */
  withdrawn = null;

  /** Count the messages in flight up to a number. */
  underWayUntil(/** @type {number} */ number) {
    let count = 0;
    for (let k = Math.max(this.highest + 1, this.first); k <= number && k < this.next; k++) {
      count += (this.missing.get(k) ?? GONE) === GONE ? 0 : 1;
    }
    return count;
  }

  /** @param {number} number @param {number} at @param {number} waited @param {boolean} overtaken */
  arrivedEarly(number, at, waited, overtaken) {
    this.early ??= new Map();
    const before = this.early.get(number);
    if (before === undefined) {
      this.early.set(number, { at, waited, overtaken, duplicate: 0 });
    } else {
      before.duplicate++;
    }
  }
}
