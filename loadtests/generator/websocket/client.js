// A WebSocket of a load, as a client of a server that speaks a dialect.

import { Wire } from './wire.js';

/** @import { Endpoint, Failure, OnBytes, OnMessage } from '../types.ts' */
/** @import { Pool } from './pool.js' */

/** What of an opening was given up from this side. */
const GIVEN_UP = /** @type {Failure} */ ({ kind: 'other', text: 'given up' });

/** One that idles: whatever comes, but for pings, is ignored. It can be opened again and again. */
export class Client {
  /** @type {Wire | null} */
  wire = null;
  isReady = false;
  wasOpened = false;
  isText = true; // what has come last
  /** @type {any} */
  memory = null; // the dialect's
  payload = ''; // sent last
  /** @type {((failure: Failure | null) => void)[]} */
  waiting = []; // for the outcome of its opening

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

  /** Opens it, unless that has begun. @param {(failure: Failure | null) => void} done is called with the outcome */
  open(done, localAddress = this.pool.addressOf(this.place)) {
    this.waiting.push(done);
    if (this.waiting.length === 1) {
      this.isReady = false;
      this.memory = null;
      this.wire = new Wire(this.pool.target(this.endpoint, this.room), localAddress, this);
    }
  }

  /** The outcome of its opening is known. */
  settle(/** @type {Failure | null} */ failure) {
    const { waiting } = this;
    this.waiting = [];
    waiting.forEach((done) => done(failure));
  }

  send(/** @type {string} */ payload) {
    this.payload = payload;
    this.wire?.send(this.pool.dialect.wrap(this, payload));
  }

  /** Closes it at once, from this side: it is not lost. */
  destroy(failure = GIVEN_UP) {
    this.wire?.destroy();
    this.wire = null;
    this.settle(failure);
  }

  /** Closes it properly; resolves when it is closed. */
  async close() {
    const { wire } = this;
    this.wire = null;
    this.settle(GIVEN_UP);
    await wire?.close();
  }

  // For subclasses.

  /** Whether the payload of `lastRead` is meant for it, or in its room. */
  isMine() {
    return false;
  }

  /** @type {OnBytes} */
  onPayload(_data, _start, _end) {}

  onAcknowledged(/** @type {boolean} */ _full) {}

  onLost(/** @type {Failure} */ _failure) {}

  // What the wire calls.

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

  // What the dialect calls.

  write(/** @type {string} */ text) {
    this.wire?.send(text);
  }

  /** It can receive. */
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

  /** The server has taken what was published last, or its layer was full. */
  acknowledged(/** @type {boolean} */ full) {
    this.onAcknowledged(full);
  }

  /** The server sent what the dialect does not allow: the connection is over. */
  fail(/** @type {string} */ text) {
    this.wire?.fail({ kind: 'other', text });
  }
}
