// Send and receive the messages of a load over WebSockets.

import { nowMs } from '../clock.js';
import { quoted } from './bytes.js';
import { Client } from './client.js';
import { lastRead } from './payload.js';

/** @import { Failure, OnBytes, Room } from '../types.ts' */
/** @import { Pool } from './pool.js' */
/** @import { EchoSender, PublishSender } from './senders.js' */

/** A receiver of messages. A lost receiver that is opened again counts as another receiver. */
class Receiver extends Client {
  name = 0; // the client's place among the receivers

  ready() {
    this.name = this.isReady ? this.name : this.pool.receiversNamed++;
    super.ready();
  }

  onLost(/** @type {Failure} */ _failure) {
    this.pool.deliveries?.loseReceiver(this.name);
  }

  /** Count the payload in `lastRead`. @returns whether it is for this receiver and unchanged */
  count(/** @type {number} */ at) {
    const { deliveries } = this.pool;
    const isMine = this.isMine();
    const isRight = isMine && lastRead.isWhole && this.isText;
    if (deliveries !== null && !isMine) {
      deliveries.stray++;
    } else if (deliveries !== null && isRight && lastRead.isMeasured) {
      deliveries.arrived(this.name, lastRead.stream, lastRead.number, at);
    } else if (isRight) {
      deliveries?.countInTime(at);
    }
    return isRight;
  }
}

/** Return whether the payload in `lastRead` was published in a client's room. */
function isOfRoom(/** @type {Client} */ { pool, room }) {
  return lastRead.isOurs && pool.roomOf(lastRead.stream) === room;
}

/** A receiver of the messages in its room. */
export class ReceivingClient extends Receiver {
  isMine() {
    return isOfRoom(this);
  }

  /** @type {OnBytes} */
  onPayload(data, start, end) {
    if (this.pool.payloads.recognise(data, start, end)) {
      this.count(nowMs());
    }
  }
}

/** A WebSocket whose messages the server must send back. Several messages can be in flight. */
export class EchoClient extends Receiver {
  numbers = 0; // the number of measured messages
  unmeasured = 0; // counts down from -1
  /** @type {Map<number, EchoSender>} */
  underWay = new Map(); // senders by the number of their message, the oldest message first

  /**
   * @param {Pool} pool
   * @param {number} place
   * @param {number} stream of its messages
   */
  constructor(pool, place, stream) {
    super(pool, 'echo', pool.nextName(), place);
    this.stream = stream;
  }

  /** Send the next message. @returns its number, which is negative if it isn't measured */
  sendNext(/** @type {EchoSender} */ sender, /** @type {boolean} */ measured) {
    const number = measured ? this.numbers++ : --this.unmeasured;
    this.underWay.set(number, sender);
    this.send(this.pool.payloads.write(this.stream, Math.abs(number), measured));
    return number;
  }

  /** @type {OnBytes} */
  onPayload(data, start, end) {
    const at = nowMs();
    if (!this.pool.payloads.recognise(data, start, end)) {
      // Assume that the server keeps the order, so that the oldest message was answered.
      this.underWay.values().next().value?.wasWrong();
    } else if (this.count(at)) {
      this.underWay.get(numberRead())?.succeeded(at);
    } else if (this.isMine()) {
      this.underWay.get(numberRead())?.wasWrong();
    }
  }

  isMine() {
    return lastRead.isOurs && lastRead.stream === this.stream;
  }

  onLost(/** @type {Failure} */ failure) {
    super.onLost(failure);
    for (const sender of [...this.underWay.values()]) {
      sender.failed(failure);
    }
  }
}

function numberRead() {
  return lastRead.isMeasured ? lastRead.number : -lastRead.number;
}

/** A WebSocket that publishes messages in a room, one at a time. It must not receive messages. */
export class PublishingClient extends Client {
  numbers = 0; // the number of measured messages
  unmeasured = 0;
  /** @type {PublishSender | null} */
  user = null;

  /**
   * @param {Pool} pool
   * @param {Room} audience
   * @param {number} place
   * @param {number} stream of its messages
   */
  constructor(pool, audience, place, stream) {
    super(pool, 'publish', audience.name, place);
    this.audience = audience;
    this.stream = stream;
  }

  /** Send the next message. @returns its number */
  sendNext(/** @type {boolean} */ measured) {
    const number = measured ? this.numbers++ : this.unmeasured++;
    this.send(this.pool.payloads.write(this.stream, number, measured));
    return number;
  }

  isMine() {
    return isOfRoom(this);
  }

  /** @type {OnBytes} */
  onPayload(data, start, end) {
    const { deliveries, payloads } = this.pool;
    if (deliveries !== null && payloads.recognise(data, start, end)) {
      deliveries.stray++;
    } else {
      this.fail(`the server answered the published message with ${quoted(data, start, end)}`);
    }
  }

  acknowledged() {
    this.user?.onAcknowledged();
  }

  onLost(/** @type {Failure} */ failure) {
    this.user?.onLost(this, failure);
  }
}
