// Measure the time until the last receiver of a message receives it.

import { Times } from './times.js';

/** @import { OfMessage } from './types.ts' */
/** @typedef {number | string} Name of a stream or a receiver */

/**
 * Messages with one or more receivers. A message is whole when all its receivers have received it. The time of a
 * message is measured from the intended send until the message is whole. If a receiver never receives the message, the
 * message has no time and is never whole.
 */
export class LastReceivers {
  messages = 0;
  whole = 0;
  times = new Times();
  /** @type {Map<Name, Map<number, {left: number, intended: number}>>} messages that some receivers haven't received */
  underWay = new Map();

  /** @param {boolean} areShared whether messages also have receivers in other processes, so that each outcome is stored
   */
  constructor(areShared = false) {
    /** @type {OfMessage[] | null} */
    this.wholes = areShared ? [] : null;
  }

  /**
   * Register a message before any receiver receives it.
   *
   * @param {Name} stream
   * @param {number} number
   * @param {number} intended
   * @param {number} receivers at least one
   */
  expect(stream, number, intended, receivers) {
    let messages = this.underWay.get(stream);
    if (messages === undefined) {
      messages = new Map();
      this.underWay.set(stream, messages);
    }
    messages.set(number, { left: receivers, intended });
    this.messages++;
  }

  /** Record that a receiver received a message for the first time. */
  arrived(/** @type {Name} */ stream, /** @type {number} */ number, /** @type {number} */ at) {
    const messages = this.underWay.get(stream);
    const message = messages?.get(number);
    if (message !== undefined && --message.left === 0) {
      messages?.delete(number);
      this.whole++;
      this.times.record(at - message.intended);
      this.wholes?.push([Number(stream), number, Math.round((at - message.intended) * 1000)]);
    }
  }

  /** Return the outcome of each message, or null if outcomes aren't stored. @returns {OfMessage[] | null} */
  each() {
    if (this.wholes === null) {
      return null;
    }
    const rest = [...this.underWay].flatMap(([stream, messages]) => [...messages.keys()].map((number) => [Number(stream), number, null]));
    return [...this.wholes, .../** @type {OfMessage[]} */ (rest)];
  }

  /** Withdraw a message that was not sent. */
  withdraw(/** @type {Name} */ stream, /** @type {number} */ number) {
    if (this.underWay.get(stream)?.delete(number)) {
      this.messages--;
    }
  }
}
