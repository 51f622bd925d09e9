// What became of messages on their way to receivers: one send may be meant for many, or for none.

import { Times } from './times.js';

/** @import { Delivered } from './job.js' */

/** @typedef {number | string} Name of a receiver or a stream */
/** @typedef {{at: number, overtaken: boolean, duplicate: number}} Early an arrival before its expectation */

/**
 * Counts deliveries. Each is one number of one stream (what one sender sends) at one receiver, and
 *
 *     expected = delivered + missing
 *
 * holds at any time: a delivery is missing from when it is expected until it arrives for the first time. Counted beside
 * it are `duplicate`, the further arrivals of what had arrived, and `reordered`, those of the delivered ones that came
 * after a higher number of their stream (as RFC 4737 counts packets: the late one, not those that overtook it). The lag
 * is from the intended send to the arrival at a receiver; missing ones and duplicates have none.
 *
 * An arrival may be told before it is expected, as where sender and receiver are in different processes. One that is
 * never expected, as of a message that was under way when its receiver joined, is counted nowhere. Of one that was expected
 * and then is not to come after all (`withdraw`), an arrival is counted nowhere either.
 *
 * A load may be made in slices: `awaited` is what is missing of those that were due since the last `begin`. What comes
 * later than its slice is delivered none the less, with all of its lag.
 *
 * What is kept of a delivery is forgotten when it arrives.
 */
export class Deliveries {
  constructor() {
    this.expected = 0;
    this.delivered = 0;
    this.duplicate = 0;
    this.reordered = 0;
    this.lag = new Times();
    this.sinceMs = -Infinity;
    this.missingBefore = 0; // of those that were due before
    /** @type {Map<Name, Map<Name, Inbox>>} by receiver and stream */
    this.inboxes = new Map();
  }

  get missing() {
    return this.expected - this.delivered;
  }

  /** How many are missing of those that were due since the last `begin`. */
  get awaited() {
    return this.missing - this.missingBefore;
  }

  /**
   * What was due until now is waited for no longer.
   *
   * @param {number} sinceMs what is expected next is due then or later
   */
  begin(sinceMs) {
    this.sinceMs = sinceMs;
    this.missingBefore = this.missing;
  }

  /**
   * A message is meant for this receiver. Of a stream, a receiver is to get one number after the other, from the first
   * that is expected on; one that left and comes back is another receiver.
   *
   * @param {Name} receiver
   * @param {Name} stream
   * @param {number} number
   * @param {number} intended when it was due to be sent
   */
  expect(receiver, stream, number, intended) {
    const inbox = this.inbox(receiver, stream);
    if (inbox.first === inbox.next) {
      inbox.first = number;
    } else if (number !== inbox.next) {
      throw new RangeError(`stream ${stream}, receiver ${receiver}: ${number} is expected after ${inbox.next - 1}`);
    }
    inbox.next = number + 1;
    this.expected++;
    const early = inbox.early?.get(number);
    if (early === undefined) {
      inbox.missing.set(number, intended);
    } else {
      inbox.early?.delete(number);
      this.wasDelivered(intended, early.at, early.overtaken);
      this.duplicate += early.duplicate;
    }
  }

  /**
   * A message has come.
   *
   * @param {Name} receiver
   * @param {Name} stream
   * @param {number} number
   * @param {number} at
   */
  arrived(receiver, stream, number, at) {
    const inbox = this.inbox(receiver, stream);
    const overtaken = number < inbox.highest;
    const intended = inbox.missing.get(number);
    if (intended !== undefined) {
      inbox.missing.delete(number);
      this.noLongerMissing(intended);
      this.wasDelivered(intended, at, overtaken);
    } else if (number >= inbox.first && number < inbox.next) {
      this.duplicate += inbox.withdrawn?.has(number) ? 0 : 1;
    } else {
      inbox.arrivedEarly(number, at, overtaken);
    }
    if (!overtaken) {
      inbox.highest = number;
    }
  }

  /**
   * A message that was expected is not to come: it was not sent on. Where it has come none the less, that counts.
   *
   * @param {Name} receiver
   * @param {Name} stream
   * @param {number} number
   */
  withdraw(receiver, stream, number) {
    const inbox = this.inbox(receiver, stream);
    const intended = inbox.missing.get(number);
    if (intended !== undefined) {
      inbox.missing.delete(number);
      this.noLongerMissing(intended);
      this.expected--;
      inbox.withdrawn ??= new Set();
      inbox.withdrawn.add(number);
    }
  }

  /** @param {number} intended */
  noLongerMissing(intended) {
    if (intended < this.sinceMs) {
      this.missingBefore--;
    }
  }

  /**
   * @param {number} intended
   * @param {number} at
   * @param {boolean} overtaken
   */
  wasDelivered(intended, at, overtaken) {
    this.delivered++;
    this.lag.record(at - intended);
    if (overtaken) {
      this.reordered++;
    }
  }

  /**
   * @param {Name} receiver
   * @param {Name} stream
   */
  inbox(receiver, stream) {
    let streams = this.inboxes.get(receiver);
    if (streams === undefined) {
      streams = new Map();
      this.inboxes.set(receiver, streams);
    }
    let inbox = streams.get(stream);
    if (inbox === undefined) {
      inbox = new Inbox();
      streams.set(stream, inbox);
    }
    return inbox;
  }

  /** @returns {Delivered} */
  measured() {
    const { expected, delivered, missing, duplicate, reordered } = this;
    return { expected, delivered, missing, duplicate, reordered, lag: this.lag.spread() };
  }
}

/** One stream at one receiver. The numbers from `first` to before `next` were expected; those not missing have come. */
class Inbox {
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
