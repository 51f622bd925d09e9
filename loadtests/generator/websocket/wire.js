// One WebSocket on TCP: opened, spoken on, closed. Pings are answered here.

import { connect } from 'node:net';

import { reading } from '../reading.js';
import { deflate, inflate } from './deflate.js';
import { CLOSE, FrameReader, isValidText, PING, PONG, TEXT, Violation } from './frames.js';
import { Handshake, NotOpened } from './handshake.js';
import { frame } from './masking.js';

/** @import { Socket } from 'node:net' */
/** @import { ErrorKind } from '../job.js' */
/** @import { Wish } from './handshake.js' */

// All connections are read into the same memory: what comes is dealt with before the next is read.
const MEMORY = Buffer.allocUnsafeSlow(256 * 1024);
const END_OF_HEAD = '\r\n\r\n';
const LONGEST_HEAD = 16 * 1024;
// Whoever is asked to close has so long to answer.
const CLOSED_WITHIN_MS = 2000;

/** @type {Record<string, string>} */
const OWN_LIMITS = {
  EMFILE: 'the generator may have no more files open: raise its limit (ulimit -n)',
  EADDRNOTAVAIL: 'the generator has no port left for this server',
};

const OPENING = 0;
const OPEN = 1;
const OVER = 2;

/**
 * Bytes on the wire, of many connections.
 *
 * @typedef {object} Traffic
 * @property {number} sent
 * @property {number} received
 */

/**
 * @typedef {object} Line where connections lead
 * @property {string} origin
 * @property {string} host
 * @property {number} port
 * @property {boolean} masking
 * @property {Traffic} traffic
 */

/**
 * @typedef {object} Listener is told what happens on a connection, until it is closed from this side
 * @property {() => void} onOpen the handshake is done
 * @property {(data: Buffer, start: number, end: number) => void} onMessage good for the time of the call
 * @property {(kind: ErrorKind, answered: boolean, text: string) => void} onEnd it could not be opened, or the other side
 *   ended it; `answered` where that was an answer to the handshake
 */

export class Wire {
  /**
   * @param {Line} line
   * @param {Wish} wish
   * @param {string | undefined} localAddress undefined: any
   * @param {Listener} listener
   */
  constructor(line, wish, localAddress, listener) {
    this.line = line;
    this.listener = listener;
    this.state = OPENING;
    this.handshake = new Handshake(line.origin, wish);
    this.head = ''; // of the answer to it, as far as it has come
    this.reader = new FrameReader(this, null);
    this.compressed = false;
    const { host, port } = line;
    const onread = { buffer: MEMORY, callback: (/** @type {number} */ bytes) => this.onBytes(bytes) };
    /** @type {Socket} */
    this.socket = connect({ host, port, localAddress, noDelay: true, onread });
    this.socket.on('connect', () => this.write(this.handshake.request));
    this.socket.on('error', (/** @type {Error & {code?: string}} */ error) => {
      const own = OWN_LIMITS[error.code ?? ''];
      if (own !== undefined) {
        throw new Error(own); // not the server's doing: the generator ends, and says so
      }
      this.ended(kindOf(error), false, error.message || String(error));
    });
    this.socket.on('close', () => {
      this.ended('reset', false, this.state === OPENING ? 'closed in the handshake' : 'closed without a word');
    });
  }

  get isOpen() {
    return this.state === OPEN;
  }

  /** @param {Buffer} bytes */
  write(bytes) {
    this.line.traffic.sent += bytes.length;
    this.socket.write(bytes);
  }

  /** @param {string} text of ASCII */
  say(text) {
    if (this.state !== OPEN) {
      return;
    }
    const { masking } = this.line;
    this.write(this.compressed ? frame(TEXT, deflate(text), masking, true) : frame(TEXT, text, masking));
  }

  /**
   * Closes it as one should, and waits for the other side's word for a while. The listener is told nothing more.
   *
   * @returns {Promise<void>} resolves when it is closed
   */
  async close() {
    if (this.state !== OPEN) {
      this.destroy();
      return;
    }
    this.sayClose(1000);
    this.state = OVER;
    await this.end();
  }

  /** Waits until the other side has ended it too, for a while. */
  async end() {
    const late = setTimeout(() => this.socket.destroy(), CLOSED_WITHIN_MS);
    await new Promise((resolve) => this.socket.once('close', resolve));
    clearTimeout(late);
  }

  /** Closes it now. The listener is told nothing more. */
  destroy() {
    this.state = OVER;
    this.reader.stop();
    this.socket.destroy();
  }

  /** @param {number} code */
  sayClose(code) {
    this.write(frame(CLOSE, Buffer.from([code >> 8, code & 0xff]), this.line.masking));
  }

  /**
   * @param {ErrorKind} kind
   * @param {boolean} answered
   * @param {string} text
   */
  ended(kind, answered, text) {
    if (this.state !== OVER) {
      this.destroy();
      this.listener.onEnd(kind, answered, text);
    }
  }

  /**
   * @param {number} bytes so many have come
   * @returns {boolean} whether to go on
   */
  onBytes(bytes) {
    this.line.traffic.received += bytes;
    reading.begin();
    try {
      if (this.state === OPENING) {
        this.readHead(bytes);
      } else {
        this.reader.read(MEMORY, 0, bytes);
      }
    } catch (error) {
      this.refuse(error);
    }
    return true;
  }

  /** @param {number} bytes */
  readHead(bytes) {
    const before = this.head.length;
    this.head += MEMORY.toString('latin1', 0, bytes);
    const end = this.head.indexOf(END_OF_HEAD, Math.max(0, before - END_OF_HEAD.length));
    if (end < 0) {
      if (this.head.length > LONGEST_HEAD) {
        throw new Violation(`the head of its handshake is longer than ${LONGEST_HEAD} bytes`);
      }
      return;
    }
    const head = this.head.slice(0, end);
    this.head = '';
    this.compressed = this.handshake.isCompressed(head);
    if (this.compressed) {
      this.reader.inflate = inflate;
    }
    this.state = OPEN;
    this.listener.onOpen();
    this.reader.read(MEMORY, end + END_OF_HEAD.length - before, bytes);
  }

  /**
   * Ends it for what the other side did.
   *
   * @param {unknown} error
   */
  refuse(error) {
    if (error instanceof NotOpened) {
      this.ended('status', true, error.message);
    } else if (error instanceof Violation) {
      if (this.state === OPEN) {
        this.sayClose(error.code);
      }
      this.ended('other', false, `the server broke the rules of WebSockets: ${error.message}`);
    } else {
      throw error;
    }
  }

  // What the reader calls.

  /**
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  onMessage(data, start, end) {
    if (this.state === OPEN) {
      this.listener.onMessage(data, start, end);
    }
  }

  /**
   * @param {number} opcode
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  onControl(opcode, data, start, end) {
    if (opcode === PING && this.state === OPEN) {
      this.write(frame(PONG, Buffer.from(data.subarray(start, end)), this.line.masking));
    } else if (opcode === CLOSE) {
      this.onClose(data, start, end);
    }
  }

  /**
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  onClose(data, start, end) {
    this.reader.stop();
    const code = end > start ? closeCode(data, start, end) : null;
    if (this.state !== OPEN) {
      this.socket.end(); // its answer to ours
      return;
    }
    this.sayClose(code ?? 1000);
    this.state = OVER;
    this.socket.end();
    this.end();
    const why = code === null ? 'without a code' : `with ${code} ${data.toString('utf8', start + 2, end)}`;
    this.listener.onEnd('reset', false, `the server closed the connection ${why}`.trimEnd());
  }
}

/**
 * The code of a close frame. Throws Violation.
 *
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 */
function closeCode(data, start, end) {
  if (end - start === 1) {
    throw new Violation('it sent half a close code');
  }
  const code = data.readUInt16BE(start);
  const standard = code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006;
  if (!standard && !(code >= 3000 && code <= 4999)) {
    throw new Violation(`it closed with the code ${code}, which may not be sent`);
  }
  if (!isValidText(data, start + 2, end)) {
    throw new Violation('it closed with a reason that is not UTF-8', 1007);
  }
  return code;
}

/**
 * @param {Error & {code?: string}} error
 * @returns {ErrorKind}
 */
function kindOf(error) {
  switch (error.code) {
    case 'ECONNREFUSED':
      return 'refused';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'reset';
    case 'ETIMEDOUT':
      return 'timeout';
    default:
      return 'other';
  }
}
