// Write and recognise payloads. A payload is the ASCII text `<token>:<stream>:<number>:`, padded with x. If the message
// isn't measured, the stream is followed by a dot instead of a colon. The token identifies the load, and a stream is
// one sender's messages to one destination. A payload therefore identifies its load and its receivers.

const COLON = 58;
const DOT = 46;
const ZERO = 48;

/**
 * The payload that was read last: whether it belongs to this load (otherwise the other fields are undefined), whether
 * its message is measured, whether the payload is complete and unchanged, its stream and number, and the position of
 * its end.
 */
export const lastRead = { isOurs: false, isMeasured: false, isWhole: false, stream: 0, number: 0, end: 0 };

export class Payloads {
  /** @param {number} size bytes of each payload; its head may be longer @param {string} token */
  constructor(size, token) {
    this.size = size;
    this.head = `${token}:`;
    this.token = Buffer.from(this.head);
    this.filling = 'x'.repeat(size);
    this.bytes = Buffer.from(this.filling);
  }

  /** @param {number} stream @param {number} number @param {boolean} measured */
  write(stream, number, measured = true) {
    const head = `${this.head}${stream}${measured ? ':' : '.'}${number}:`;
    return head + this.filling.slice(head.length);
  }

  /** Return whether the bytes start like a payload. If so, `lastRead` describes the payload. */
  recognise(/** @type {Buffer} */ data, /** @type {number} */ start, /** @type {number} */ end) {
    const { token, size } = this;
    const streamAt = start + token.length;
    if (streamAt > end || data[streamAt - 1] !== COLON) {
      return false;
    }
    const numberAt = readNumber(data, streamAt, end) + 1;
    const isMeasured = data[numberAt - 1] === COLON;
    if (numberAt <= 0 || !(isMeasured || data[numberAt - 1] === DOT)) {
      return false;
    }
    lastRead.stream = value;
    const filledAt = readNumber(data, numberAt, end) + 1;
    if (filledAt <= 0 || data[filledAt - 1] !== COLON) {
      return false;
    }
    lastRead.number = value;
    lastRead.isMeasured = isMeasured;
    lastRead.isOurs = beginsWith(data, start, token);
    lastRead.end = Math.max(filledAt, start + size);
    lastRead.isWhole =
      lastRead.end === end &&
      (filledAt === end || data.compare(this.bytes, 0, end - filledAt, filledAt, end) === 0);
    return true;
  }
}

/** Return whether `bytes` are at this place in the data. For few bytes, the loop is faster than Buffer.compare. */
function beginsWith(/** @type {Buffer} */ data, /** @type {number} */ at, /** @type {Buffer} */ bytes) {
  for (let k = 0; k < bytes.length; k++) {
    if (data[at + k] !== bytes[k]) {
      return false;
    }
  }
  return true;
}

let value = 0; // the result of readNumber

/**
 * @param {Buffer} data
 * @param {number} at
 * @param {number} end
 * @returns {number} the place of the byte after it, or -2 without a number or such a byte
 */
function readNumber(data, at, end) {
  const start = at;
  value = 0;
  for (; at < end; at++) {
    const digit = data[at] - ZERO;
    if (digit < 0 || digit > 9) {
      return at > start ? at : -2;
    }
    value = value * 10 + digit;
  }
  return -2;
}
