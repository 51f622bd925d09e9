// The WebSockets of a load, as clients of a server that speaks a dialect.

import { nowMs } from '../clock.js';
import { lastRead, UNMEASURED } from './payload.js';
import { Wire } from './wire.js';

/** @import { Endpoint, Failure, OnBytes } from '../types.ts' */
/** @import { Pool } from './pool.js' */
/** @import { MessageSender } from './senders.js' */

/** One that idles: whatever comes, but for pings, is ignored. It can be opened again and again. */
export class Client {
  /** @type {Wire | null} */
  wire = null;
  isReady = false;
  wasOpened = false;
  /** @type {Buffer | null} */
  memory = null; // the dialect's
  payload = ''; // sent last
  /** @type {((failure: Failure | null) => void) | null} */
  done = null; // called with the outcome of its opening

  /**
   * @param {Pool} pool
   * @param {Endpoint} endpoint
   * @param {string} room
   * @param {number} place among the clients of the pool
   */
  constructor(pool, endpoint, room, place) {
    this.pool = pool;
    this.endpoint = endpoint;
    this.room = room;
    this.place = place;
  }

  get isOpen() {
    return this.isReady && this.wire !== null && this.wire.isOpen;
  }

  get conversation() {
    return this.pool.conversation;
  }

  /** @param {(failure: Failure | null) => void} done */
  open(done, localAddress = this.pool.addressOf(this.place)) {
    this.done = done;
    this.isReady = false;
    this.memory = null;
    this.wire = new Wire(this.pool.target(this.endpoint, this.room), localAddress, this);
  }

  send(/** @type {string} */ payload) {
    this.payload = payload;
    this.wire?.send(this.pool.dialect.wrap(this, payload));
  }

  /** Closes it at once, from this side: it is not lost. */
  destroy() {
    this.done = null;
    this.wire?.destroy();
    this.wire = null;
  }

  /** Closes it properly; resolves when it is closed. */
  async close() {
    const { wire } = this;
    this.done = null;
    this.wire = null;
    await wire?.close();
  }

  // For subclasses.

  /** @type {OnBytes} */
  onPayload(_data, _start, _end) {}

  onAcknowledged(/** @type {boolean} */ _full) {}

  onLost(/** @type {Failure} */ _failure) {}

  // What the wire calls.

  onOpen() {
    this.pool.dialect.onOpen(this);
  }

  /** @type {OnBytes} */
  onMessage(data, start, end) {
    this.pool.dialect.onMessage(this, data, start, end);
  }

  onEnd(/** @type {Failure} */ failure) {
    const { done } = this;
    this.wire = null;
    this.done = null;
    if (done !== null) {
      done(failure);
    } else {
      this.pool.onLost(failure.text);
      this.onLost(failure);
    }
  }

  // What the dialect calls.

  write(/** @type {string} */ text) {
    this.wire?.send(text);
  }

  /** It can receive. */
  ready() {
    if (!this.isReady) {
      const { done } = this;
      this.isReady = true;
      this.wasOpened = true;
      this.done = null;
      done?.(null);
    }
  }

  /** @type {OnBytes} */
  received(data, start, end) {
    if (this.isReady) {
      this.onPayload(data, start, end);
    }
  }

  /** The server has taken what was published last, or its layer was full. */
  acknowledged(/** @type {boolean} */ full) {
    this.onAcknowledged(full);
  }

  /** The server sent what the dialect does not allow: the connection is over. */
  fail(/** @type {string} */ text) {
    this.wire?.fail({ kind: 'other', text });
  }
}

/** One that receives what is published in its room. One that was lost and is opened again is another receiver. */
export class ReceivingClient extends Client {
  name = 0; // among the receivers

  ready() {
    this.name = this.isReady ? this.name : this.pool.receiversNamed++;
    super.ready();
  }

  /** @type {OnBytes} */
  onPayload(data, start, end) {
    const { payloads, deliveries, rooms } = this.pool;
    if (deliveries === null || !payloads.recognise(data, start, end)) {
      return;
    }
    const at = nowMs();
    if (lastRead.stream === UNMEASURED) {
      deliveries.countInTime(at);
    } else if ((lastRead.stream - 1) % rooms.length === this.place % rooms.length) {
      deliveries.arrived(this.name, lastRead.stream, lastRead.number, at);
    } else {
      deliveries.stray++; // it was published in another room
    }
  }

  onLost() {
    this.pool.deliveries?.loseReceiver(this.name);
  }
}

/** One on which messages are sent, to be echoed or published. */
export class SendingClient extends Client {
  numbers = 0; // of measured messages
  unmeasured = 0;
  /** @type {MessageSender | null} */
  user = null;

  /**
   * @param {Pool} pool
   * @param {'echo' | 'publish'} endpoint
   * @param {string} room
   * @param {number} place
   * @param {number} stream of its measured messages
   */
  constructor(pool, endpoint, room, place, stream) {
    super(pool, endpoint, room, place);
    this.stream = stream;
  }

  /** @type {OnBytes} */
  onPayload(data, start, end) {
    const at = nowMs();
    const { payloads, deliveries } = this.pool;
    const whole = payloads.recognise(data, start, end);
    if (whole && lastRead.stream === UNMEASURED) {
      deliveries?.countInTime(at);
    } else if (whole) {
      deliveries?.arrived(this.place, lastRead.stream, lastRead.number, at);
    }
    this.user?.onEcho(whole, at);
  }

  onAcknowledged(/** @type {boolean} */ full) {
    this.user?.onAcknowledged(full);
  }

  onLost(/** @type {Failure} */ failure) {
    this.user?.onLost(this, failure);
  }
}
