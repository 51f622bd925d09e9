// A WebSocket over TCP, from opening to closing. It answers pings.

import { connect } from 'node:net';

import { failureOf } from '../loopback.js';
import { readDelay } from '../read_delay.js';
import { withTicket } from '../ticket.js';
import { CLOSE, FrameReader, PING, PONG, TEXT, Violation } from './frames.js';
import { Handshake, NotOpened } from './handshake.js';
import { frame } from './write_frame.js';

/** @import { Socket } from 'node:net' */
/** @import { Failure, OnBytes, OnMessage, Target } from '../types.ts' */

// All connections share this read buffer, because the data is handled before the next read.
const MEMORY = Buffer.allocUnsafeSlow(256 * 1024);
const END_OF_HEAD = '\r\n\r\n';
const LONGEST_HEAD = 16 * 1024;
const CLOSED_WITHIN_MS = 2000; // after this time, the connection is cut
const CLOSE_CODE_WITHIN_MS = 1000; // the time for a close frame after a handshake without a subprotocol

/** @type {Record<string, string>} */
const OWN_LIMITS = {
  EMFILE: 'the generator cannot open more files. Raise the limit with ulimit -n',
  EADDRNOTAVAIL: 'the generator has no port left for this server',
};

const OPENING = 0;
const OPEN = 1;
const OVER = 2;

/**
 * @typedef {object} Listener is called until the connection is closed from this side
 * @property {() => void} onOpen the handshake is done
 * @property {OnMessage} onMessage
 * @property {(failure: Failure) => void} onEnd called if the WebSocket couldn't be opened, or if the other side closed
 * the WebSocket. `answered` is true if the failure is an answer to the handshake.
 */

export class Wire {
  state = OPENING;
  head = ''; // the received part of the answer to the handshake

  /**
   * @param {Target} target
   * @param {string | undefined} localAddress undefined for any address
   * @param {Listener} listener
   */
  constructor(target, localAddress, listener) {
    this.target = target;
    this.listener = listener;
    this.handshake = new Handshake(target);
    this.reader = new FrameReader(this);
    const { host, port } = target;
    const onread = { buffer: MEMORY, callback: (/** @type {number} */ bytes) => this.onBytes(bytes) };
    /** @type {Socket} */
    this.socket = connect({ host, port, localAddress, noDelay: true, onread });
    this.socket.on('connect', () => this.begin());
    this.socket.on('error', (/** @type {Error & {code?: string}} */ error) => {
      const own = OWN_LIMITS[error.code ?? ''];
      if (own !== undefined) {
        throw new Error(own); // not the server's fault, so the generator exits with this message
      }
      this.fail(failureOf(error));
    });
    this.socket.on('close', () => {
      const text = this.state === OPENING ? 'closed during the handshake' : 'closed without a close frame';
      this.fail({ kind: 'reset', text });
    });
  }

  begin() {
    const { target, handshake } = this;
    if (!target.ticket) {
      this.write(handshake.request);
      return;
    }
    withTicket(target, target.ticket, handshake.request.toString('latin1')).then(
      (text) => this.state === OPENING && this.write(Buffer.from(text, 'latin1')),
      (error) => this.fail({ kind: 'other', text: `no ticket: ${error.message}` }),
    );
  }

  get isOpen() {
    return this.state === OPEN;
  }

  write(/** @type {Buffer} */ bytes) {
    this.target.traffic.sent += bytes.length;
    this.socket.write(bytes);
  }

  /** @param {string} text of ASCII */
  send(text) {
    if (this.state !== OPEN) {
      return;
    }
    this.write(frame(TEXT, text));
  }

  /** Send a close frame, and wait a while for the server to close. The listener is no longer called. */
  async close() {
    if (this.state !== OPEN) {
      this.destroy();
      return;
    }
    this.sendClose(1000);
    this.state = OVER;
    await this.end();
  }

  /** Wait a while for the server to also close the connection. */
  async end() {
    const timer = setTimeout(() => this.socket.destroy(), CLOSED_WITHIN_MS);
    await new Promise((resolve) => this.socket.once('close', resolve));
    clearTimeout(timer);
  }

  /** Close the connection immediately. The listener is no longer called. */
  destroy() {
    this.state = OVER;
    this.reader.stop();
    this.socket.destroy();
  }

  sendClose(/** @type {number} */ code) {
    this.write(frame(CLOSE, Buffer.from([code >> 8, code & 0xff])));
  }

  /** Report an end of the connection that this side didn't request. */
  fail(/** @type {Failure} */ failure) {
    if (this.state !== OVER) {
      this.destroy();
      this.listener.onEnd(failure);
    }
  }

  /** Handle bytes that arrived in MEMORY. */
  onBytes(/** @type {number} */ bytes) {
    this.target.traffic.received += bytes;
    readDelay.begin();
    try {
      if (this.state === OPENING) {
        this.readHead(bytes);
      } else {
        this.reader.read(MEMORY, 0, bytes);
      }
    } catch (error) {
      this.refuse(error);
    }
    return true; // go on
  }

  readHead(/** @type {number} */ bytes) {
    const before = this.head.length;
    this.head += MEMORY.toString('latin1', 0, bytes);
    const end = this.head.indexOf(END_OF_HEAD, Math.max(0, before - END_OF_HEAD.length));
    if (end < 0) {
      if (this.head.length > LONGEST_HEAD) {
        throw new Violation(`the answer's headers are longer than ${LONGEST_HEAD} bytes`);
      }
      return;
    }
    const head = this.head.slice(0, end);
    this.head = '';
    this.handshake.check(head);
    this.state = OPEN;
    if (this.handshake.lacksSubprotocol) {
      // The application may be about to close the connection with a code that explains more.
      const refusal = new Violation('the server chose no subprotocol');
      setTimeout(() => this.refuse(refusal), CLOSE_CODE_WITHIN_MS);
    } else {
      this.listener.onOpen();
    }
    this.reader.read(MEMORY, end + END_OF_HEAD.length - before, bytes);
  }

  /** End the connection because the server refused it or broke the rules. */
  refuse(/** @type {unknown} */ error) {
    if (error instanceof NotOpened) {
      this.fail({ kind: 'status', answered: true, text: error.message });
    } else if (error instanceof Violation) {
      if (this.state === OPEN) {
        this.sendClose(error.code);
      }
      this.fail({ kind: 'other', text: `WebSocket protocol error: ${error.message}` });
    } else {
      throw error;
    }
  }

  // Called by the reader.

  /** @type {OnMessage} */
  onMessage(data, start, end, isText) {
    if (this.state === OPEN && !this.handshake.lacksSubprotocol) {
      this.listener.onMessage(data, start, end, isText);
    }
  }

  /** @param {number} opcode @param {Buffer} data @param {number} start @param {number} end */
  onControl(opcode, data, start, end) {
    if (opcode === PING && this.state === OPEN) {
      this.write(frame(PONG, Buffer.from(data.subarray(start, end))));
    } else if (opcode === CLOSE) {
      this.onClose(data, start, end);
    }
  }

  /** @type {OnBytes} */
  onClose(data, start, end) {
    this.reader.stop();
    const code = end - start < 2 ? null : data.readUInt16BE(start);
    if (this.state !== OPEN) {
      this.socket.end(); // the answer to our close frame
      return;
    }
    this.sendClose(code ?? 1000);
    this.state = OVER;
    this.socket.end();
    this.end();
    const why = code === null ? 'without a code' : `with ${code} ${data.toString('utf8', start + 2, end)}`;
    this.listener.onEnd({ kind: 'reset', text: `the server closed the connection ${why}`.trimEnd() });
  }
}
