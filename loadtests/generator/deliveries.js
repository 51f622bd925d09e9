// Count the deliveries of messages. A message has at least one receiver.

import { Times } from './times.js';

/** @import { DeliveryCounts } from './types.ts' */

/**
 * @typedef {object} Message
 * @property {number} intended when the message was due to be sent
 * @property {number} left the number of receivers that haven't received the message
 */

/** The messages of one stream to a receiver, with the numbers from `first` up to, but not including, `next`. */
class Inbox {
  /** @type {Map<number, Message>} by number */
  missing = new Map();

  constructor(/** @type {number} */ first) {
    this.first = first;
    this.next = first;
    this.highest = first - 1; // the highest number that has arrived
  }
}

/**
 * The deliveries of a load. A stream consists of the numbered messages of one sender, and a delivery is the arrival of
 * one of these messages at one receiver. At any time
 *
 *     expected = delivered + missing
 *
 * `duplicate` counts repeated arrivals of a message. `reordered` counts the messages that arrive after a higher number
 * of their stream. As in RFC 4737, the late message counts, not the messages that overtook it. The lag is the time from
 * the intended send to the first arrival. A message is whole when all its receivers have received it.
 *
 * If a load has slices, `awaited` counts the missing deliveries that were due since the last call of `begin`, except
 * deliveries to lost receivers. A delivery after the end of its slice still counts, with its whole lag.
 */
export class Deliveries {
  expected = 0;
  delivered = 0;
  duplicate = 0;
  reordered = 0;
  stray = 0;  // messages that arrived at the wrong client
  inTime = 0; // arrivals in the measured part of a slice
  awaited = 0;
  underWay = 0; // deliveries in flight. A missing message that was overtaken is lost rather than late.
  messages = 0;
  whole = 0;
  /** @type {number[]} */
  backlog = [];  // for each slice, a lower bound for the growth of the deliveries in flight
  lag = new Times();
  last = new Times(); // the lag of each whole message's last receiver
  reading = new Times(); // the part of the lag that the generator may have caused
  sinceMs = -Number.MAX_VALUE;
  fromMs = -Infinity; // the start of the slice's measured part
  endMs = Infinity;
  most = -Infinity;  // the maximum number of deliveries in flight in the slice's second quarter
  least = Infinity; // the minimum number of deliveries in flight in the slice's last quarter
  /** @type {Map<number, Map<number, Inbox>>} by receiver and stream */
  inboxes = new Map();
  /** @type {Set<number>} */
  lost = new Set(); // receivers

  /**
   * @param {(at: number) => number} waited returns the time that a message may have waited in the generator
   * @param {boolean} straysAreKnown false if messages of other senders may be intended for a receiver
   */
  constructor(waited = () => 0, straysAreKnown = true) {
    this.waited = waited;
    this.straysAreKnown = straysAreKnown;
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
    this.awaited = 0;
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
   * Expect a message. For each receiver, the numbers of a stream must be consecutive. A receiver that leaves and
   * returns counts as another receiver.
   *
   * @param {{name: number}[]} receivers
   * @param {number} stream
   * @param {number} number
   * @param {number} intended when the message was due to be sent
   */
  expect(receivers, stream, number, intended) {
    const message = { intended, left: receivers.length };
    this.messages += receivers.length > 0 ? 1 : 0;
    this.expected += receivers.length;
    for (const { name } of receivers) {
      if (!this.lost.has(name)) {
        const inbox = this.inbox(name, stream, number);
        inbox.next = number + 1;
        this.underWay++;
        inbox.missing.set(number, message);
        this.awaited++;
      }
    }
  }

  /** @param {number} receiver @param {number} stream @param {number} number @param {number} at */
  arrived(receiver, stream, number, at) {
    const inbox = this.inboxes.get(receiver)?.get(stream);
    if (inbox === undefined || number < inbox.first) {
      return; // sent before the receiver joined
    }
    const message = inbox.missing.get(number);
    if (message === undefined) {
      this.duplicate++;
      return;
    }
    inbox.missing.delete(number);
    this.awaited -= message.intended < this.sinceMs ? 0 : 1;
    this.delivered++;
    this.reordered += number < inbox.highest ? 1 : 0;
    this.underWay -= Math.max(0, number - inbox.highest);
    inbox.highest = Math.max(inbox.highest, number);
    this.lag.record(at - message.intended);
    this.reading.record(this.waited(at));
    this.countInTime(at);
    if (--message.left === 0) {
      this.whole++;
      this.last.record(at - message.intended);
    }
  }

  /** Mark a receiver as lost. Its missing and future messages stay missing, but are no longer awaited. */
  loseReceiver(/** @type {number} */ receiver) {
    this.lost.add(receiver);
    for (const { missing, next, highest } of this.inboxes.get(receiver)?.values() ?? []) {
      this.underWay -= next - 1 - highest;
      for (const { intended } of missing.values()) {
        this.awaited -= intended < this.sinceMs ? 0 : 1;
      }
    }
    this.inboxes.delete(receiver);
  }

  /** Count an arrival in the measured part of a slice, even if the message was sent while the server settled. */
  countInTime(/** @type {number} */ at) {
    this.inTime += at >= this.fromMs && at <= this.endMs ? 1 : 0;
  }

  /** @param {number} receiver @param {number} stream @param {number} first the number of the first message */
  inbox(receiver, stream, first) {
    let streams = this.inboxes.get(receiver);
    if (streams === undefined) {
      streams = new Map();
      this.inboxes.set(receiver, streams);
    }
    let inbox = streams.get(stream);
    if (inbox === undefined) {
      inbox = new Inbox(first);
      streams.set(stream, inbox);
    }
    return inbox;
  }

  /** @returns {DeliveryCounts} */
  measured() {
    const { expected, delivered, duplicate, reordered, inTime, messages, whole, backlog } = this;
    const stray = this.straysAreKnown || this.stray === 0 ? this.stray : null;
    return {
      ...{ expected, delivered, missing: expected - delivered, duplicate, reordered, stray, in_time: inTime, messages, whole, backlog },
      lag: this.lag.spread(),
      last: this.last.spread(),
      reading: this.reading.spread(),
    };
  }
}
