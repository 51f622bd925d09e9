// What is sent: ASCII text, `<stream>:<number>:`, filled up with x. A stream is what one sender sends to one place.

const COLON = 58;
const ZERO = 48;

/** The stream of what is not measured. */
export const UNMEASURED = 0;

/** The stream and number of the payload that was recognised last. */
export const lastRead = { stream: 0, number: 0 };

export class Payloads {
  /** @param {number} size bytes of each; its head may be longer */
  constructor(size) {
    this.size = size;
    this.filling = 'x'.repeat(size);
    this.bytes = Buffer.from(this.filling);
  }

  /** @param {number} stream @param {number} number */
  write(stream, number) {
    const head = `${stream}:${number}:`;
    return head + this.filling.slice(head.length);
  }

  /** Whether some bytes are a whole payload of this size; `lastRead` is then that. */
  recognise(/** @type {Buffer} */ data, /** @type {number} */ start, /** @type {number} */ end) {
    const first = readNumber(data, start, end);
    if (first < 0) {
      return false;
    }
    lastRead.stream = value;
    const second = readNumber(data, first, end);
    if (second < 0) {
      return false;
    }
    lastRead.number = value;
    const filled = end - second;
    return (
      filled === Math.max(0, this.size - (second - start)) &&
      (filled === 0 || data.compare(this.bytes, 0, filled, second, end) === 0)
    );
  }
}

let value = 0; // of the number that was read last

/**
 * @param {Buffer} data
 * @param {number} at
 * @param {number} end
 * @returns {number} what comes after the colon behind it; -1 where there is no number with a colon
 */
function readNumber(data, at, end) {
  const start = at;
  value = 0;
  for (; at < end; at++) {
    const digit = data[at] - ZERO;
    if (digit < 0 || digit > 9) {
      return data[at] === COLON && at > start ? at + 1 : -1;
    }
    value = value * 10 + digit;
  }
  return -1;
}
