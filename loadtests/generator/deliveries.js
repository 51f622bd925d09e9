// What became of messages on their way to receivers: one send may be meant for many, or for none.

import { GONE, Inbox } from './inbox.js';
import { Lasts } from './last_receiver.js';
import { Times } from './times.js';

/** @import { Delivered } from './job.js' */

/** @typedef {number | string} Name of a receiver or a stream */

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
 * A load may be made in slices: `awaited` is what is missing of those that were due since the last `begin`, but for what
 * receivers lack that are `gone`. What comes later than its slice is delivered none the less, with all of its lag.
 *
 * `underWay` is what is missing and may be on its way: nothing that was sent later has come there before it. What was
 * overtaken is lost rather than late.
 *
 * What is kept of a delivery is forgotten when it arrives.
 */
export class Deliveries {
  /** @param {(at: number) => number} waited how long what is read then may have lain in the generator */
  constructor(waited = () => 0) {
    this.waited = waited;
    this.expected = 0;
    this.delivered = 0;
    this.duplicate = 0;
    this.reordered = 0;
    this.stray = 0; // came to a receiver that they were not meant for: whoever knows both counts them
    this.inTime = 0; // came while it was measured
    this.underWay = 0;
    /** @type {number[]} */
    this.backlog = []; // for each slice, by how many at least those under way became more
    this.lag = new Times();
    this.reading = new Times(); // how much of it the generator may be at fault for
    this.lasts = new Lasts(); // is told by whoever sends a message to many
    this.sinceMs = -Number.MAX_VALUE;
    this.fromMs = -Infinity; // of what is measured of a slice
    this.endMs = Infinity;
    this.most = -Infinity; // under way at a time in its second quarter
    this.least = Infinity; // and in its last
    this.missingBefore = 0; // of those that were due before, or that nobody is there to receive
    /** @type {Map<Name, Map<Name, Inbox>>} by receiver and stream */
    this.inboxes = new Map();
    /** @type {Set<Name>} */
    this.left = new Set(); // the receivers that are gone
  }

  get missing() {
    return this.expected - this.delivered;
  }

  /** How many are missing of those that were due since the last `begin`, and may still come. */
  get awaited() {
    return this.missing - this.missingBefore;
  }

  /**
   * A slice begins. What was due until now is waited for no longer.
   *
   * @param {number} sinceMs what is expected next is due then or later
   * @param {number} fromMs when its measured part begins
   * @param {number} endMs when that ends
   */
  begin(sinceMs, fromMs = sinceMs, endMs = Infinity) {
    this.sinceMs = sinceMs;
    this.fromMs = fromMs;
    this.endMs = endMs;
    this.most = -Infinity;
    this.least = Infinity;
    this.missingBefore = this.missing;
  }

  /**
   * Sees how many are under way; to be called again and again while a slice lasts.
   *
   * @param {number} now
   */
  look(now) {
    const quarter = Math.floor((4 * (now - this.fromMs)) / (this.endMs - this.fromMs));
    if (quarter === 1) {
      this.most = Math.max(this.most, this.underWay);
    } else if (quarter === 3) {
      this.least = Math.min(this.least, this.underWay);
    }
  }

  /**
   * The slice is over. Where those under way become more and more, the fewest in its last quarter are more than the most
   * in its second, by what a quarter adds. Where they waver, however much, that is below 0.
   *
   * @param {number} now earlier than its end where it was stopped
   */
  end(now) {
    if (this.endMs > this.fromMs && now >= this.endMs) {
      const grown = 4 * (this.least - this.most);
      this.backlog.push(Number.isFinite(grown) ? grown : 0); // it may have been too short to look
    }
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
    if (early !== undefined) {
      inbox.early?.delete(number);
      this.wasDelivered(intended, early.at, early.overtaken);
      this.lasts.has(stream, number, early.at);
      this.duplicate += early.duplicate;
    } else if (this.left.has(receiver)) {
      inbox.missing.set(number, GONE);
      this.missingBefore++;
    } else {
      inbox.missing.set(number, intended);
      this.underWay += number > inbox.highest ? 1 : 0;
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
    if (!overtaken) {
      this.underWay -= inbox.until(number);
      inbox.highest = number;
    }
    const intended = inbox.missing.get(number);
    if (intended !== undefined) {
      inbox.missing.delete(number);
      this.noLongerMissing(intended);
      this.wasDelivered(intended, at, overtaken);
      this.lasts.has(stream, number, at);
    } else if (number >= inbox.first && number < inbox.next) {
      this.duplicate += inbox.withdrawn?.has(number) ? 0 : 1;
    } else {
      inbox.arrivedEarly(number, at, overtaken);
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
      this.underWay -= number > inbox.highest && intended !== GONE ? 1 : 0;
      this.expected--;
      inbox.withdrawn ??= new Set();
      inbox.withdrawn.add(number);
    }
  }

  /**
   * A receiver was lost: what it lacks, and what it is still to get, stays missing, and is not waited for.
   *
   * @param {Name} receiver
   */
  gone(receiver) {
    this.left.add(receiver);
    for (const inbox of this.inboxes.get(receiver)?.values() ?? []) {
      this.underWay -= inbox.until(inbox.next);
      for (const [number, intended] of inbox.missing) {
        this.missingBefore += intended < this.sinceMs ? 0 : 1;
        inbox.missing.set(number, GONE);
      }
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
    this.reading.record(this.waited(at));
    this.came(at);
    if (overtaken) {
      this.reordered++;
    }
  }

  /**
   * One has come; also one of which nothing else is counted, as it was sent while the server settled.
   *
   * @param {number} at
   */
  came(at) {
    if (at >= this.fromMs && at <= this.endMs) {
      this.inTime++;
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
    const { expected, delivered, missing, duplicate, reordered, stray, inTime, backlog } = this;
    const { messages, whole, times } = this.lasts;
    return {
      ...{ expected, delivered, missing, duplicate, reordered, stray, in_time: inTime, messages, whole, backlog },
      lag: this.lag.spread(),
      last: times.spread(),
      reading: this.reading.spread(),
    };
  }
}
