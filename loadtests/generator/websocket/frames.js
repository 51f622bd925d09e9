// Read frames as a client (RFC 6455, section 5).

import { isUtf8 } from 'node:buffer';

export const TEXT = 1;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

export const FIN = 0x80;
export const MASKED = 0x80;
// The first bytes of frames: continued, text and binary messages, which may be incomplete, and control frames.
const FIRST_BYTES = new Set([0x00, 0x01, 0x02, 0x80, 0x81, 0x82, 0x88, 0x89, 0x8a]);
const MAX_CONTROL_BYTES = 125;

/** The maximum size of a received message, in bytes. All sent messages are much shorter. */
const LARGEST = 64 << 20;

/** The other side broke a rule of RFC 6455. The connection is closed with `code`. */
export class Violation extends Error {
  constructor(/** @type {string} */ rule, code = 1002) {
    super(rule);
    this.code = code;
  }
}

/**
 * @typedef {object} Listener of a reader; the bytes are valid only during the call
 * @property {(data: Buffer, start: number, end: number, isText: boolean) => void} onMessage gets a complete message
 * @property {(opcode: number, data: Buffer, start: number, end: number) => void} onControl
 */

/** Read the frames of one connection from pieces of data. A frame that arrives in one piece isn't copied. */
export class FrameReader {
  stopped = false;
  /** @type {Buffer[]} */
  pieces = []; // the pieces of an incomplete frame
  needed = 0; // the number of bytes until its header or the whole frame is complete
  /** @type {Buffer[] | null} */
  fragments = null;  // the parts of an incomplete message
  fragmentBytes = 0;
  first = 0; // the first byte of the incomplete message

  constructor(/** @type {Listener} */ listener) {
    this.listener = listener;
  }

  stop() {
    this.stopped = true;
  }

  /** Read a piece of data. @throws {Violation} if the data breaks the rules */
  read(/** @type {Buffer} */ data, /** @type {number} */ at, /** @type {number} */ end) {
    if (this.pieces.length > 0) {
      this.keep(data, at, end);
      if (this.needed > 0) {
        return;
      }
      data = Buffer.concat(this.pieces);
      at = 0;
      end = data.length;
      this.pieces = [];
    }
    while (at < end && !this.stopped) {
      const next = this.take(data, at, end);
      if (next < 0) {
        this.needed = -next;
        this.keep(data, at, end);
        return;
      }
      at = next;
    }
  }

  /** @param {Buffer} data @param {number} at @param {number} end */
  keep(data, at, end) {
    this.pieces.push(Buffer.from(data.subarray(at, end)));
    this.needed -= end - at;
  }

  /**
   * Handle one frame.
   *
   * @param {Buffer} data
   * @param {number} at
   * @param {number} end
   * @returns {number} its end; or, if it is incomplete, the number of bytes that are needed next, as a negative number
   */
  take(data, at, end) {
    const there = end - at;
    if (there < 2) {
      return -2;
    }
    const second = data[at + 1];
    if ((second & MASKED) !== 0) {
      throw new Violation('the server masked a frame');
    }
    const header = second < 126 ? 2 : second === 126 ? 4 : 10;
    if (there < header) {
      return -header;
    }
    let length = second;
    if (header === 4) {
      length = data.readUInt16BE(at + 2);
    } else if (header === 10) {
      length = data.readUInt32BE(at + 2) * 2 ** 32 + data.readUInt32BE(at + 6);
    }
    if (data[at] % 16 >= CLOSE && length > MAX_CONTROL_BYTES) {
      throw new Violation('the server sent a control frame of more than 125 bytes');
    }
    requireSize(length);
    const start = at + header;
    if (there < header + length) {
      return -(header + length);
    }
    this.frame(data[at], data, start, start + length);
    return start + length;
  }

  /**
   * @param {number} first the byte with its flags and its opcode
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  frame(first, data, start, end) {
    const opcode = first & 0x0f;
    if (!FIRST_BYTES.has(first)) {
      throw new Violation(`the server sent a frame that starts with 0x${first.toString(16)}, which is not allowed`);
    }
    if (opcode >= CLOSE) {
      this.listener.onControl(opcode, data, start, end);
      return;
    }
    if ((opcode === 0) === (this.fragments === null)) {
      throw new Violation('the server mixed up the fragments of its messages');
    }
    if (opcode !== 0) {
      this.first = first;
    }
    if (opcode !== 0 && (first & FIN) !== 0) {
      this.whole(data, start, end);
    } else {
      this.fragment((first & FIN) !== 0, Buffer.from(data.subarray(start, end)));
    }
  }

  /** @param {boolean} isLast @param {Buffer} part of a message */
  fragment(isLast, part) {
    this.fragments ??= [];
    this.fragments.push(part);
    this.fragmentBytes += part.length;
    requireSize(this.fragmentBytes);
    if (isLast) {
      const message = Buffer.concat(this.fragments);
      this.fragments = null;
      this.fragmentBytes = 0;
      this.whole(message, 0, message.length);
    }
  }

  /** @param {Buffer} data @param {number} start @param {number} end */
  whole(data, start, end) {
    const isText = (this.first & 0x0f) === TEXT;
    if (isText && !isUtf8(data.subarray(start, end))) {
      throw new Violation('the server sent text that is not UTF-8', 1007);
    }
    this.listener.onMessage(data, start, end, isText);
  }
}

function requireSize(/** @type {number} */ bytes) {
  if (bytes > LARGEST) {
    throw new Violation(`the server sent a message of ${bytes} bytes. At most ${LARGEST} bytes are allowed`, 1009);
  }
}
