// What became of messages on their way to receivers: one send may be meant for many, or for none.

import { GONE, Inbox } from './inbox.js';
import { LastReceivers } from './last_receiver.js';
import { Times } from './times.js';

/** @import { Name } from './last_receiver.js' */
/** @import { DeliveryCounts } from './types.ts' */

/**
 * Counts deliveries. Each is one number of one stream (what one sender sends) at one receiver, and at any time
 *
 *     expected = delivered + missing
 *
 * `duplicate` are further arrivals, `reordered` those of the delivered ones that came after a higher number of their
 * stream (as RFC 4737 counts packets: the late one, not those that overtook it). The lag is from the intended send to the
 * first arrival.
 *
 * An arrival may come before it is expected, as where sender and receiver are in different processes. One that is never
 * expected, as of a message that was under way when its receiver joined, is counted nowhere.
 *
 * A load may have slices: `awaited` is what is missing of those that were due since the last `begin`, but for what
 * lost receivers lack. What comes later than its slice is delivered none the less, with all of its lag.
 *
 * `underWay` is what is missing and not overtaken: what was overtaken is lost rather than late.
 */
export class Deliveries {
  expected = 0;
  delivered = 0;
  duplicate = 0;
  reordered = 0;
  stray = 0; // arrivals where they were not meant to, counted by whoever got them
  inTime = 0; // arrivals while it was measured
  underWay = 0;
  /** @type {number[]} */
  backlog = []; // by slice, the least growth of those under way
  lag = new Times();
  reading = new Times(); // the part of it that may be the generator's
  sinceMs = -Number.MAX_VALUE;
  fromMs = -Infinity; // the measured part of a slice
  endMs = Infinity;
  most = -Infinity; // under way at a time in its second quarter
  least = Infinity; // and in its last
  missingBefore = 0; // due before the slice, or at lost receivers
  /** @type {Map<Name, Map<Name, Inbox>>} by receiver and stream */
  inboxes = new Map();
  /** @type {Set<Name>} */
  lost = new Set(); // receivers

  /**
   * @param {(at: number) => number} waited how long what is read then may have lain in the generator
   * @param {boolean} straysAreKnown false: who gets a message of another sender may be meant to
   * @param {boolean} areShared messages have receivers in several processes
   */
  constructor(waited = () => 0, straysAreKnown = true, areShared = false) {
    this.waited = waited;
    this.straysAreKnown = straysAreKnown;
    this.lastReceivers = new LastReceivers(areShared);
  }

  get missing() {
    return this.expected - this.delivered;
  }

  get awaited() {
    return this.missing - this.missingBefore;
  }

  /**
   * A slice begins; what was due before is no longer awaited.
   *
   * @param {number} sinceMs
   * @param {number} fromMs when its measured part begins
   * @param {number} endMs
   */
  begin(sinceMs, fromMs = sinceMs, endMs = Infinity) {
    this.sinceMs = sinceMs;
    this.fromMs = fromMs;
    this.endMs = endMs;
    this.most = -Infinity;
    this.least = Infinity;
    this.missingBefore = this.missing;
  }

  /** Samples how many are under way, to be called regularly during a slice. */
  look(/** @type {number} */ now) {
    const quarter = Math.floor((4 * (now - this.fromMs)) / (this.endMs - this.fromMs));
    if (quarter === 1) {
      this.most = Math.max(this.most, this.underWay);
    } else if (quarter === 3) {
      this.least = Math.min(this.least, this.underWay);
    }
  }

  /**
   * The slice ends. Where those under way become more and more, the fewest in its last quarter exceed the most in its
   * second, by what a quarter adds. Where they fluctuate, however much, the growth is below 0. A stopped slice has none.
   */
  end(/** @type {number} */ now) {
    if (this.endMs > this.fromMs && now >= this.endMs) {
      const growth = 4 * (this.least - this.most);
      this.backlog.push(Number.isFinite(growth) ? growth : 0); // it may have been too short to look
    }
  }

  /**
   * A message is meant for this receiver. A receiver expects consecutive numbers of a stream; one that left and comes
   * back is another receiver.
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
    if (early !== undefined) {
      inbox.early?.delete(number);
      this.wasDelivered(intended, early.at, early.waited, early.overtaken);
      this.lastReceivers.arrived(stream, number, early.at);
      this.duplicate += early.duplicate;
    } else if (this.lost.has(receiver)) {
      inbox.missing.set(number, GONE);
      this.missingBefore++;
    } else {
      inbox.missing.set(number, intended);
      this.underWay += number > inbox.highest ? 1 : 0;
    }
  }

  /**
   * A message is meant for these receivers.
   *
   * @param {{name: Name}[]} receivers
   * @param {Name} stream
   * @param {number} number
   * @param {number | null} intended null: one of before, that was not sent on
   */
  publish(receivers, stream, number, intended) {
    if (intended === null) {
      this.lastReceivers.withdraw(stream, number);
      receivers.forEach(({ name }) => this.withdraw(name, stream, number));
      return;
    }
    if (receivers.length > 0) {
      this.lastReceivers.expect(stream, number, intended, receivers.length);
    }
    for (const { name } of receivers) {
      this.expect(name, stream, number, intended);
    }
  }

  /** @param {Name} receiver @param {Name} stream @param {number} number @param {number} at */
  arrived(receiver, stream, number, at) {
    const inbox = this.inbox(receiver, stream);
    const overtaken = number < inbox.highest;
    if (!overtaken) {
      this.underWay -= inbox.underWayUntil(number);
      inbox.highest = number;
    }
    const intended = inbox.missing.get(number);
    if (intended !== undefined) {
      this.noLongerMissing(inbox, number, intended);
      this.wasDelivered(intended, at, this.waited(at), overtaken);
      this.lastReceivers.arrived(stream, number, at);
    } else if (number >= inbox.first && number < inbox.next) {
      this.duplicate += inbox.withdrawn?.has(number) ? 0 : 1;
    } else {
      inbox.arrivedEarly(number, at, this.waited(at), overtaken);
    }
  }

  /** An expected message was not sent on. Where it has come none the less, that counts; a later arrival does not. */
  withdraw(/** @type {Name} */ receiver, /** @type {Name} */ stream, /** @type {number} */ number) {
    const inbox = this.inbox(receiver, stream);
    const intended = inbox.missing.get(number);
    if (intended !== undefined) {
      this.noLongerMissing(inbox, number, intended);
      this.underWay -= number > inbox.highest && intended !== GONE ? 1 : 0;
      this.expected--;
      inbox.withdrawn ??= new Set();
      inbox.withdrawn.add(number);
    }
  }

  /** A receiver was lost: what it lacks, and is still to get, stays missing and is not awaited. */
  loseReceiver(/** @type {Name} */ receiver) {
    this.lost.add(receiver);
    for (const inbox of this.inboxes.get(receiver)?.values() ?? []) {
      this.underWay -= inbox.underWayUntil(inbox.next);
      for (const [number, intended] of inbox.missing) {
        this.missingBefore += intended < this.sinceMs ? 0 : 1;
        inbox.missing.set(number, GONE);
      }
    }
  }

  /** @param {Inbox} inbox @param {number} number @param {number} intended */
  noLongerMissing(inbox, number, intended) {
    inbox.missing.delete(number);
    this.missingBefore -= intended < this.sinceMs ? 1 : 0;
  }

  /** @param {number} intended @param {number} at @param {number} waited @param {boolean} overtaken */
  wasDelivered(intended, at, waited, overtaken) {
    this.delivered++;
    this.lag.record(at - intended);
    this.reading.record(waited);
    this.countInTime(at);
    this.reordered += overtaken ? 1 : 0;
  }

  /** One has come; also one of which nothing else is counted, as it was sent while the server settled. */
  countInTime(/** @type {number} */ at) {
    this.inTime += at >= this.fromMs && at <= this.endMs ? 1 : 0;
  }

  inbox(/** @type {Name} */ receiver, /** @type {Name} */ stream) {
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

  /** @returns {DeliveryCounts} */
  measured() {
    const { expected, delivered, missing, duplicate, reordered, inTime, backlog } = this;
    const { messages, whole, times } = this.lastReceivers;
    const stray = this.straysAreKnown || this.stray === 0 ? this.stray : null;
    return {
      ...{ expected, delivered, missing, duplicate, reordered, stray, in_time: inTime, messages, whole, backlog },
      of_messages: this.lastReceivers.each(),
      lag: this.lag.spread(),
      last: times.spread(),
      reading: this.reading.spread(),
    };
  }
}
