// Parse one HTTP/1.1 answer as its bytes arrive (RFC 9112).

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);
const MAX_HEAD_BYTES = 65_536;

/** @import { AnswerHandler } from './types.ts' */

/** The server sent something other than an HTTP/1.1 answer. */
export class InvalidAnswer extends Error {}

export class Answer {
  isComplete = false;
  isUntilClose = false; // the body ends when the connection closes
  left = 0; // remaining bytes of the body or of the current chunk
  begun = NOTHING; // the start of an incomplete head or line
  /** @type {(bytes: Buffer) => number} parses the next part and returns its length, or 0 if the part is incomplete */
  parse = this.head;

  /** @param {string} method @param {AnswerHandler} handler */
  constructor(method, handler) {
    this.method = method;
    this.handler = handler;
  }

  /**
   * Parse more bytes, and return whether there are bytes after the end of the answer. The caller may reuse the buffer
   * afterwards.
   *
   * @param {Buffer} bytes
   */
  take(bytes) {
    let rest = this.begun === NOTHING ? bytes : Buffer.concat([this.begun, bytes]);
    this.begun = NOTHING;
    while (rest.length > 0 && !this.isComplete) {
      const length = this.parse(rest);
      if (length === 0) {
        if (rest.length > MAX_HEAD_BYTES) {
          throw new InvalidAnswer(`the headers or a line of the answer are longer than ${MAX_HEAD_BYTES} bytes`);
        }
        this.begun = Buffer.from(rest);
        return false;
      }
      rest = rest.subarray(length);
    }
    return rest.length > 0;
  }

  /** @param {Buffer} bytes */
  head(bytes) {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) {
      return 0;
    }
    const head = bytes.toString('latin1', 0, end);
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?![^ \r])/.exec(head)?.[1] ?? NaN);
    if (Number.isNaN(status)) {
      throw new InvalidAnswer(`the answer is not HTTP/1.1: '${head.slice(0, 40)}'`);
    }
    if (status >= 200 || status === 101) {
      this.handler.onHead(status, head);
      this.expectBody(status, head);
    } // do nothing after an interim answer, because another answer follows
    return end + HEAD_END.length;
  }

  /** @param {number} status @param {string} head */
  expectBody(status, head) {
    const coding = valueOf(/\r\ntransfer-encoding:([^\r]*)/i, head);
    const length = valueOf(/\r\ncontent-length:([^\r]*)/i, head);
    if (this.method === 'HEAD' || status < 200 || status === 204 || status === 304) {
      this.isComplete = true;
    } else if (coding !== null && /(^|,)[ \t]*chunked$/i.test(coding)) {
      this.parse = this.chunkSize;
    } else if (coding !== null || length === null) {
      this.isUntilClose = true;
      this.left = Infinity;
      this.parse = this.data;
    } else if (/^\d+$/.test(length)) {
      this.left = Number(length);
      this.isComplete = this.left === 0;
      this.parse = this.data;
    } else {
      throw new InvalidAnswer(`the answer's Content-Length is '${length}' instead of a number`);
    }
  }

  /** @param {Buffer} bytes */
  data(bytes) {
    const length = this.pass(bytes);
    this.isComplete = this.left === 0;
    return length;
  }

  /** @param {Buffer} bytes */
  pass(bytes) {
    const part = bytes.length > this.left ? bytes.subarray(0, this.left) : bytes;
    this.left -= part.length;
    this.handler.onData(part);
    return part.length;
  }

  /** @param {Buffer} bytes */
  chunkSize(bytes) {
    const end = bytes.indexOf(LINE_END);
    if (end < 0) {
      return 0;
    }
    const line = bytes.toString('latin1', 0, end);
    const size = /^([0-9a-f]+)[ \t]*(?:;|$)/i.exec(line);
    if (size === null) {
      throw new InvalidAnswer(`a chunk of the answer starts with '${line.slice(0, 40)}' instead of its size`);
    }
    this.left = parseInt(size[1], 16);
    this.parse = this.left === 0 ? this.trailer : this.chunk;
    return end + LINE_END.length;
  }

  /** @param {Buffer} bytes */
  chunk(bytes) {
    const length = this.pass(bytes);
    if (this.left === 0) {
      this.parse = this.chunkEnd;
    }
    return length;
  }

  /** @param {Buffer} bytes */
  chunkEnd(bytes) {
    if (bytes.length < LINE_END.length) {
      return 0;
    }
    if (bytes.indexOf(LINE_END) !== 0) {
      throw new InvalidAnswer('a chunk of the answer is longer than its size');
    }
    this.parse = this.chunkSize;
    return LINE_END.length;
  }

  /** @param {Buffer} bytes */
  trailer(bytes) {
    const end = bytes.indexOf(LINE_END);
    this.isComplete = end === 0;
    return end < 0 ? 0 : end + LINE_END.length;
  }
}

/** @param {RegExp} header @param {string} head */
function valueOf(header, head) {
  return header.exec(head)?.[1].trim() ?? null;
}
