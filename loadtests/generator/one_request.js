// Send one request over a new connection and close the connection after the answer.
//
// Gunicorn's sync worker waits until the client closes the connection, and can't answer another request before that.
// The client therefore closes the connection as soon as the last byte of the answer arrives, before it records the
// answer. With undici, a new connection needs two to three times as much CPU time.

import { connect } from 'node:net';

import { Answer } from './answer.js';

/** @import { Address, AnswerHandler } from './types.ts' */

const buffer = Buffer.allocUnsafeSlow(65_536); // each read is parsed immediately, so all connections share the buffer

export class OneRequest {
  isOver = false;

  /**
   * @param {Address} address
   * @param {string} method
   * @param {Buffer} bytes the request
   * @param {AnswerHandler} handler
   */
  constructor({ host, port }, method, bytes, handler) {
    this.handler = handler;
    this.answer = new Answer(method, handler);
    this.socket = connect({
      host,
      port,
      noDelay: true,
      onread: { buffer, callback: (length) => this.onBytes(length) },
    });
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('end', () => this.onEnd());
    this.socket.write(bytes);
  }

  onBytes(/** @type {number} */ length) {
    if (!this.isOver) {
      try {
        this.answer.take(buffer.subarray(0, length));
      } catch (error) {
        this.fail(/** @type {Error} */ (error));
      }
      if (this.answer.isComplete) {
        this.complete();
      }
    }
    return !this.isOver;
  }

  onEnd() {
    if (this.answer.isUntilClose) {
      this.complete();
    } else {
      this.fail(Object.assign(new Error('the server closed the connection'), { code: 'ECONNRESET' }));
    }
  }

  complete() {
    if (!this.isOver) {
      this.destroy();
      this.handler.onComplete();
    }
  }

  fail(/** @type {Error} */ error) {
    if (!this.isOver) {
      this.destroy();
      this.handler.onError(error);
    }
  }

  destroy() {
    this.isOver = true;
    this.socket.destroy();
  }
}
