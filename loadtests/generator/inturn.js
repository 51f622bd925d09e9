// Things that are used in turn: what has rested longest comes next.

/** @template T */
export class InTurn {
  /** @param {number} most there are never more in it */
  constructor(most) {
    /** @type {(T | undefined)[]} */
    this.places = new Array(most);
    this.first = 0;
    this.length = 0;
  }

  /** @param {T} one */
  push(one) {
    this.places[(this.first + this.length) % this.places.length] = one;
    this.length++;
  }

  /** @returns {T | undefined} */
  pop() {
    const one = this.places[this.first];
    if (this.length > 0) {
      this.places[this.first] = undefined;
      this.first = (this.first + 1) % this.places.length;
      this.length--;
    }
    return one;
  }
}
