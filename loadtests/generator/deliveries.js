// Count the deliveries of messages. A message can have several receivers or no receiver.

import { GONE, Inbox } from './inbox.js';
import { LastReceivers } from './last_receiver.js';
import { Times } from './times.js';

/** @import { Name } from './last_receiver.js' */
/** @import { DeliveryCounts } from './types.ts' */

/**
 * The deliveries of a load. A stream consists of the numbered messages of one sender, and a delivery is the arrival of
 * one of these messages at one receiver. At any time
 *
 *     expected = delivered + missing
 *
 * `duplicate` counts repeated arrivals of a message. `reordered` counts the messages that arrive after a higher number
 * of their stream. As in RFC 4737, the late message counts, not the messages that overtook it. The lag is the time from
 * the intended send to the first arrival.
 *
 * A message can arrive before it is expected, for example if its sender and receiver are in different processes. A
 * message that is never expected doesn't count, for example if it was sent before its receiver joined.
 *
 * If a load has slices, `awaited` counts the missing deliveries that were due since the last call of `begin`, except
 * deliveries to lost receivers. A delivery after the end of its slice still counts, with its whole lag.
 *
 * `underWay` counts the missing deliveries that were not overtaken, because an overtaken message is lost rather than
 * late.
 */
export class Deliveries {
  expected = 0;
  delivered = 0;
  duplicate = 0;
  reordered = 0;
  stray = 0;  // messages that arrived at the wrong client
  inTime = 0; // arrivals in the measured part of a slice
  underWay = 0;
  /** @type {number[]} */
  backlog = [];  // for each slice, a lower bound for the growth of the deliveries in flight
  lag = new Times();
  reading = new Times(); // the part of the lag that the generator may have caused
  sinceMs = -Number.MAX_VALUE;
  fromMs = -Infinity; // the start of the slice's measured part
  endMs = Infinity;
  most = -Infinity;  // the maximum number of deliveries in flight in the slice's second quarter
  least = Infinity; // the minimum number of deliveries in flight in the slice's last quarter
  missingBefore = 0; // missing deliveries that were due before the slice, and those to lost receivers
  /** @type {Map<Name, Map<Name, Inbox>>} by receiver and stream */
  inboxes = new Map();
  /** @type {Set<Name>} */
  lost = new Set(); // receivers

  /**
   * @param {(at: number) => number} waited returns the time that a message may have waited in the generator
   * @param {boolean} straysAreKnown false if messages of other senders may be intended for a receiver
   * @param {boolean} areShared whether messages have receivers in several processes
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
   * Start a slice. Earlier deliveries are no longer awaited.
   *
   * @param {number} sinceMs
   * @param {number} fromMs the start of the slice's measured part
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

  /** Sample the number of deliveries in flight. Call this method regularly during a slice. */
  look(/** @type {number} */ now) {
    const quarter = Math.floor((4 * (now - this.fromMs)) / (this.endMs - this.fromMs));
    if (quarter === 1) {
      this.most = Math.max(this.most, this.underWay);
    } else if (quarter === 3) {
      this.least = Math.min(this.least, this.underWay);
    }
  }

  /**
   * End the slice, and record the growth of the deliveries in flight unless the slice was stopped early. If the number
   * increases steadily, the minimum in the last quarter exceeds the maximum in the second quarter by the growth in a
   * quarter of the slice. If the number only fluctuates, the recorded growth is below 0.
   */
  end(/** @type {number} */ now) {
    if (this.endMs > this.fromMs && now >= this.endMs) {
      const growth = 4 * (this.least - this.most);
      this.backlog.push(Number.isFinite(growth) ? growth : 0); // the slice may have been too short for samples
    }
  }

  /**
   * Expect a message at a receiver. For each receiver, the numbers of a stream must be consecutive. A receiver that
   * leaves and returns counts as another receiver.
   *
   * @param {Name} receiver
   * @param {Name} stream
   * @param {number} number
   * @param {number} intended when the message was due to be sent
   */
  expect(receiver, stream, number, intended) {
    const inbox = this.inbox(receiver, stream);
    if (inbox.first === inbox.next) {
      inbox.first = number;
    } else if (number !== inbox.next) {
      throw new RangeError(`stream ${stream}, receiver ${receiver}: number ${number} can't follow ${inbox.next - 1}`);
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
   * Expect a message at several receivers, or withdraw the message.
   *
   * @param {{name: Name}[]} receivers
   * @param {Name} stream
   * @param {number} number
   * @param {number | null} intended null withdraws an earlier message that the server did not forward
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

  /**
   * Stop expecting a message whose sending failed. If a copy has already arrived, it still counts. A later arrival
   * doesn't count.
   */
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

  /** Mark a receiver as lost. Its missing and future messages stay missing, but are no longer awaited. */
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

  /** Count an arrival in the measured part of a slice, even if the message was sent while the server settled. */
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
