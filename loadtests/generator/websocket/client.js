// A WebSocket of a load, as a client of a server that speaks a dialect.

import { Wire } from './wire.js';

/** @import { Endpoint, Failure, OnBytes, OnMessage } from '../types.ts' */
/** @import { Pool } from './pool.js' */

/** The failure if this side gave up opening a connection. */
const GIVEN_UP = /** @type {Failure} */ ({ kind: 'other', text: 'given up' });

/** An idle client: it ignores all messages except pings. It can be opened again and again. */
export class Client {
  /** @type {Wire | null} */
  wire = null;
  isReady = false;
  wasOpened = false;
  isText = true;  // the type of the last message
  /** @type {any} */
  memory = null; // the dialect's
  payload = ''; // sent last
  /** @type {((failure: Failure | null) => void)[]} */
  waiting = []; // gets the outcome of its opening

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

  /** Open it, unless it is opening already. @param {(failure: Failure | null) => void} done gets the outcome */
  open(done, localAddress = this.pool.addressOf(this.place)) {
    this.waiting.push(done);
    if (this.waiting.length === 1) {
      this.isReady = false;
      this.memory = null;
      this.wire = new Wire(this.pool.target(this.endpoint, this.room), localAddress, this);
    }
  }

  /** Handle the outcome of its opening. */
  settle(/** @type {Failure | null} */ failure) {
    const { waiting } = this;
    this.waiting = [];
    waiting.forEach((done) => done(failure));
  }

  send(/** @type {string} */ payload) {
    this.payload = payload;
    this.wire?.send(this.pool.dialect.wrap(this, payload));
  }

  /** Close it immediately from this side. It doesn't count as lost. */
  destroy(failure = GIVEN_UP) {
    this.wire?.destroy();
    this.wire = null;
    this.settle(failure);
  }

  /** Close it properly. Resolves when it is closed. */
  async close() {
    const { wire } = this;
    this.wire = null;
    this.settle(GIVEN_UP);
    await wire?.close();
  }

  // For subclasses.

  /** Return whether the payload in `lastRead` is for this client or its room. */
  isMine() {
    return false;
  }

  /** @type {OnBytes} */
  onPayload(_data, _start, _end) {}

  onAcknowledged(/** @type {boolean} */ _full) {}

  onLost(/** @type {Failure} */ _failure) {}

  // Called by the wire.

  onOpen() {
    this.pool.dialect.onOpen(this);
  }

  /** @type {OnMessage} */
  onMessage(data, start, end, isText) {
    this.isText = isText;
    this.pool.dialect.onMessage(this, data, start, end);
  }

  onEnd(/** @type {Failure} */ failure) {
    this.wire = null;
    if (this.waiting.length > 0) {
      this.settle(failure);
    } else {
      this.pool.onLost(failure.text);
      this.onLost(failure);
    }
  }

  // Called by the dialect.

  write(/** @type {string} */ text) {
    this.wire?.send(text);
  }

  /** The client can receive messages. */
  ready() {
    if (!this.isReady) {
      this.isReady = true;
      this.wasOpened = true;
      this.settle(null);
    }
  }

  /** @type {OnBytes} */
  received(data, start, end) {
    if (this.isReady) {
      this.onPayload(data, start, end);
    }
  }

  /** The server has accepted the last published message, or its layer was full. */
  acknowledged(/** @type {boolean} */ full) {
    this.onAcknowledged(full);
  }

  /** End the connection, because the server sent a message that the dialect doesn't allow. */
  fail(/** @type {string} */ text) {
    this.wire?.fail({ kind: 'other', text });
  }
}
