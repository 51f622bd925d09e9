// Read frames as a client (RFC 6455, section 5).

import { isUtf8 } from 'node:buffer';

export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

export const FIN = 0x80;
export const RSV1 = 0x40; // the flag of a compressed message (RFC 7692)
const RESERVED = 0x70;
export const MASKED = 0x80;
const MAX_CONTROL_BYTES = 125;

/** The maximum size of a received message, in bytes. All sent messages are much shorter. */
export const LARGEST = 64 << 20;
const SHORT = 128;  // up to this number of bytes, a loop is faster than a call of isUtf8

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
  /** @type {Buffer | null} */
  parked = null; // the start of an incomplete frame, in a buffer for its header or for the whole frame
  parkedBytes = 0;
  /** @type {Buffer[] | null} */
  fragments = null;  // the parts of an incomplete message
  fragmentsBytes = 0;
  isText = false; // whether the incomplete message is text
  isCompressed = false;

  /**
   * @param {Listener} listener
   * @param {((data: Buffer) => Buffer) | null} inflate inflates compressed messages; null if they aren't allowed
   */
  constructor(listener, inflate) {
    this.listener = listener;
    this.inflate = inflate;
  }

  stop() {
    this.stopped = true;
  }

  /** Read a piece of data. @throws {Violation} if the data breaks the rules */
  read(/** @type {Buffer} */ data, /** @type {number} */ at, /** @type {number} */ end) {
    while (at < end && !this.stopped) {
      if (this.parked !== null) {
        at += this.fill(this.parked, data, at, end);
        continue;
      }
      const next = this.take(data, at, end);
      if (next < 0) {
        this.park(data, at, end, -next);
        return;
      }
      at = next;
    }
  }

  /**
   * @param {Buffer} data
   * @param {number} at
   * @param {number} end
   * @param {number} needed bytes
   */
  park(data, at, end, needed) {
    this.parked = Buffer.allocUnsafe(needed);
    this.parkedBytes = data.copy(this.parked, 0, at, end);
  }

  /**
   * @param {Buffer} parked
   * @param {Buffer} data
   * @param {number} at
   * @param {number} end
   * @returns {number} the number of copied bytes
   */
  fill(parked, data, at, end) {
    const taken = data.copy(parked, this.parkedBytes, at, end);
    this.parkedBytes += taken;
    if (this.parkedBytes === parked.length) {
      this.parked = null;
      const next = this.take(parked, 0, parked.length);
      if (next < 0) {
        this.park(parked, 0, parked.length, -next); // only the header of the frame was known
      }
    }
    return taken;
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
    let header = 2;
    let length = second;
    if (data[at] % 16 >= CLOSE && length > MAX_CONTROL_BYTES) {
      throw new Violation('the server sent a control frame of more than 125 bytes');
    }
    if (second === 126) {
      header = 4;
      if (there < header) {
        return -header;
      }
      length = data.readUInt16BE(at + 2);
    } else if (second === 127) {
      header = 10;
      if (there < header) {
        return -header;
      }
      length = data.readUInt32BE(at + 2) * 2 ** 32 + data.readUInt32BE(at + 6);
    }
    if ((header === 4 && length < 126) || (header === 10 && length < 65536)) {
      throw new Violation(`the server encoded the length ${length} in more bytes than necessary`);
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
    const isLast = (first & FIN) !== 0;
    const reserved = first & RESERVED;
    const opcode = first & 0x0f;
    if ((opcode > BINARY && opcode < CLOSE) || opcode > PONG) {
      throw new Violation(`the server sent a frame with the unknown opcode ${opcode}`);
    }
    const compressed = reserved === RSV1 && this.inflate !== null && (opcode === TEXT || opcode === BINARY);
    if (reserved !== 0 && !compressed) {
      throw new Violation('the server set a reserved bit without an agreed extension');
    }
    if (opcode >= CLOSE) {
      if (!isLast) {
        throw new Violation('the server fragmented a control frame');
      }
      this.listener.onControl(opcode, data, start, end);
    } else if (opcode === 0) {
      this.continued(isLast, data, start, end);
    } else if (this.fragments !== null) {
      throw new Violation('the server started a message before the end of another message');
    } else if (isLast) {
      this.whole(opcode === TEXT, compressed, data, start, end);
    } else {
      this.isText = opcode === TEXT;
      this.isCompressed = compressed;
      this.fragments = [Buffer.from(data.subarray(start, end))];
      this.fragmentsBytes = end - start;
    }
  }

  /** @param {boolean} isLast @param {Buffer} data @param {number} start @param {number} end */
  continued(isLast, data, start, end) {
    if (this.fragments === null) {
      throw new Violation('the server continued a message that it had not started');
    }
    this.fragments.push(Buffer.from(data.subarray(start, end)));
    this.fragmentsBytes += end - start;
    requireSize(this.fragmentsBytes);
    if (isLast) {
      const message = Buffer.concat(this.fragments);
      this.fragments = null;
      this.whole(this.isText, this.isCompressed, message, 0, message.length);
    }
  }

  /**
   * @param {boolean} isText
   * @param {boolean} compressed
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  whole(isText, compressed, data, start, end) {
    if (compressed && this.inflate !== null) {
      data = this.inflate(data.subarray(start, end));
      start = 0;
      end = data.length;
    }
    if (isText && !isValidText(data, start, end)) {
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

/** @param {Buffer} data @param {number} start @param {number} end */
export function isValidText(data, start, end) {
  if (end - start <= SHORT) {
    let at = start;
    while (at < end && data[at] < 0x80) {
      at++;
    }
    if (at === end) {
      return true; // nearly all text is ASCII
    }
  }
  return isUtf8(data.subarray(start, end));
}
