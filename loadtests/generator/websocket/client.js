// Open the WebSockets of a load, as clients of a server with a dialect.

import { Wire } from './wire.js';

/** @import { Endpoint, Failure, OnBytes, OnMessage } from '../types.ts' */
/** @import { Pool } from './pool.js' */

/** The failure of a client that was given up before the client was open. */
const GIVEN_UP = /** @type {Failure} */ ({ kind: 'other', text: 'given up' });

/** An idle client, which ignores all messages except pings. A client can be opened repeatedly. */
export class Client {
  /** @type {Wire | null} */
  wire = null;
  isReady = false;
  wasOpened = false;
  isText = true;  // whether the last message was text
  /** @type {any} */
  memory = null; // the dialect's
  payload = ''; // sent last
  /** @type {((failure: Failure | null) => void)[]} */
  waiting = []; // the callbacks for the outcome of opening

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

  /**
   * Open the client unless it is already being opened.
   *
   * @param {(failure: Failure | null) => void} done called with the outcome
   */
  open(done, localAddress = this.pool.addressOf(this.place)) {
    this.waiting.push(done);
    if (this.waiting.length === 1) {
      this.isReady = false;
      this.memory = null;
      this.wire = new Wire(this.pool.target(this.endpoint, this.room, this.place), localAddress, this);
    }
  }

  /** Report the outcome of opening to the waiting callbacks. */
  settle(/** @type {Failure | null} */ failure) {
    const { waiting } = this;
    this.waiting = [];
    waiting.forEach((done) => done(failure));
  }

  send(/** @type {string} */ payload) {
    this.payload = payload;
    this.wire?.send(this.pool.dialect.wrap(this, payload));
  }

  /** Close the client immediately. It doesn't count as lost. */
  destroy(/** @type {Failure} */ failure = GIVEN_UP) {
    this.wire?.destroy();
    this.wire = null;
    this.settle(failure);
  }

  /** Close the client with a close frame. The promise resolves when the client is closed. */
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

  /** Mark the client as able to receive messages. */
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

  /** Process the server's answer to the last published message. */
  acknowledged() {}

  /** End the connection, because the server sent a message that the dialect doesn't allow. */
  fail(/** @type {string} */ text) {
    this.wire?.fail({ kind: 'other', text });
  }
}
