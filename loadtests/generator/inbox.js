// The messages of one stream that a receiver expects or has received.

/** The due time of a lost receiver's messages. It is earlier than the due time of any awaited message. */
export const GONE = -Infinity;

/**
 * The messages with the numbers from `first` up to, but not including, `next` were expected. They have arrived unless
 * they are in `missing` or `withdrawn`.
 */
export class Inbox {
  first = 0;
  next = 0;
  highest = -1;  // the highest number that has arrived
  /** @type {Map<number, number>} the due times of missing messages, by number */
  missing = new Map();
  /** @type {Map<number, {at: number, waited: number, overtaken: boolean, duplicate: number}> | null} early arrivals */
  early = null;
  /** @type {Set<number> | null} */
  withdrawn = null;

  /** Count the messages in flight up to and including this number. */
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
