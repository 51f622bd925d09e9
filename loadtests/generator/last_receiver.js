// When the last of a message's receivers has it.

import { Times } from './times.js';

/** @typedef {{left: number, intended: number}} UnderWay a message that not all have: by how many it is awaited */

/**
 * Messages that are each meant for several receivers. One is whole when all of them have it; its time is from the
 * intended send until the last of them did. One that any of them never gets has no time, and is never whole.
 */
export class Lasts {
  constructor() {
    this.messages = 0;
    this.whole = 0;
    this.times = new Times();
    /** @type {Map<number | string, Map<number, UnderWay>>} by stream and number */
    this.underWay = new Map();
  }

  /**
   * A message is sent that so many are to get. It is told before any of them has it.
   *
   * @param {number | string} stream
   * @param {number} number
   * @param {number} intended
   * @param {number} receivers one at the least
   */
  meant(stream, number, intended, receivers) {
    let messages = this.underWay.get(stream);
    if (messages === undefined) {
      messages = new Map();
      this.underWay.set(stream, messages);
    }
    messages.set(number, { left: receivers, intended });
    this.messages++;
  }

  /**
   * One of its receivers has a message, for the first time.
   *
   * @param {number | string} stream
   * @param {number} number
   * @param {number} at
   */
  has(stream, number, at) {
    const messages = this.underWay.get(stream);
    const message = messages?.get(number);
    if (message !== undefined && --message.left === 0) {
      messages?.delete(number);
      this.whole++;
      this.times.record(at - message.intended);
    }
  }

  /**
   * A message was not sent on: it is meant for nobody.
   *
   * @param {number | string} stream
   * @param {number} number
   */
  withdraw(stream, number) {
    if (this.underWay.get(stream)?.delete(number)) {
      this.messages--;
    }
  }
}
