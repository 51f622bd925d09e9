// A connection on which a dialect is spoken: what a protocol such as socket.io puts around a payload is the dialect's
// business, and frames are the wire's.

import { Wire } from './wire.js';

/** @import { Conversation, ErrorKind } from '../job.js' */
/** @import { Line } from './wire.js' */

/** @typedef {'echo' | 'rooms' | 'publish'} Endpoint what a connection is for */

/**
 * How a server is spoken to. dialects/<name>.js, where <name> is Conversation.dialect, exports one as `dialect`. It keeps
 * nothing of its own: what it must remember of a connection is the talk's `memory`. A room has a name that no other load
 * uses; of a connection that joins none, which echoes or idles, it is a name of its own.
 *
 * @typedef {object} Dialect
 * @property {(conversation: Conversation) => string | null} subprotocol
 * @property {(conversation: Conversation, endpoint: Endpoint, room: string) => string} path of the handshake
 * @property {(talk: Talk) => void} opened the handshake is done; the talk is to be told when it is `ready`, which means
 *   that it can receive
 * @property {(talk: Talk, data: Buffer, start: number, end: number) => void} heard a message has come: the talk is told
 *   what it says
 * @property {(talk: Talk, payload: string, room: string) => string} wrap what is sent of a payload, in ASCII
 */

/**
 * @typedef {object} Ear is told what is said in a talk
 * @property {() => void} onReady
 * @property {(data: Buffer, start: number, end: number) => void} onPayload a payload has come; good for the time of the
 *   call
 * @property {(full: boolean) => void} onTaken the server has taken what was published last, or its layer was full
 * @property {(kind: ErrorKind, answered: boolean, text: string) => void} onEnd it could not be opened, or was ended by the
 *   other side
 */

/**
 * Where talks of a load lead, and how they are held.
 *
 * @typedef {object} Parley
 * @property {Line} line
 * @property {Dialect} dialect
 * @property {Conversation} conversation
 * @property {string} path of the request
 * @property {string[]} headers
 */

export class Talk {
  /**
   * @param {Parley} parley
   * @param {Endpoint} endpoint
   * @param {string} room
   * @param {string | undefined} localAddress
   * @param {Ear} ear
   */
  constructor(parley, endpoint, room, localAddress, ear) {
    const { line, dialect, conversation, headers } = parley;
    this.dialect = dialect;
    this.conversation = conversation;
    this.endpoint = endpoint;
    this.room = room;
    this.ear = ear;
    this.isReady = false;
    /** @type {Buffer | null} */
    this.memory = null; // the dialect's
    this.sent = ''; // the payload that was sent last
    // Without a prefix the request's own path is asked for, whatever answers there.
    const path = conversation.prefix === '' ? parley.path : dialect.path(conversation, endpoint, room);
    const subprotocol = dialect.subprotocol(conversation);
    const wish = { path, headers, subprotocol, compression: conversation.compression };
    this.wire = new Wire(line, wish, localAddress, this);
  }

  /** Whether it can be spoken on. */
  get isOpen() {
    return this.isReady && this.wire.isOpen;
  }

  /**
   * @param {string} payload
   * @param {string} room that it is published in
   */
  send(payload, room) {
    this.sent = payload;
    this.wire.say(this.dialect.wrap(this, payload, room));
  }

  close() {
    return this.wire.close();
  }

  destroy() {
    this.wire.destroy();
  }

  // What the wire calls.

  onOpen() {
    this.dialect.opened(this);
  }

  /**
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  onMessage(data, start, end) {
    this.dialect.heard(this, data, start, end);
  }

  /**
   * @param {ErrorKind} kind
   * @param {boolean} answered
   * @param {string} text
   */
  onEnd(kind, answered, text) {
    this.ear.onEnd(kind, answered, text);
  }

  // What the dialect calls.

  /** @param {string} text of ASCII, which is said as it is */
  say(text) {
    this.wire.say(text);
  }

  ready() {
    if (!this.isReady) {
      this.isReady = true;
      this.ear.onReady();
    }
  }

  /**
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  payload(data, start, end) {
    if (this.isReady) {
      this.ear.onPayload(data, start, end);
    }
  }

  /** @param {boolean} full */
  taken(full) {
    this.ear.onTaken(full);
  }

  /**
   * The other side said what does not belong there: the talk is over.
   *
   * @param {string} what
   */
  misheard(what) {
    this.wire.ended('other', false, what);
  }
}

/**
 * Whether some bytes are just these.
 *
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 * @param {Buffer} expected
 */
export function isJust(data, start, end, expected) {
  return end - start === expected.length && data.compare(expected, 0, expected.length, start, end) === 0;
}

/**
 * Whether some bytes begin with these.
 *
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 * @param {Buffer} expected
 */
export function beginsWith(data, start, end, expected) {
  const { length } = expected;
  return end - start >= length && data.compare(expected, 0, length, start, start + length) === 0;
}

/**
 * Some bytes as an error tells them.
 *
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 */
export function told(data, start, end) {
  const text = JSON.stringify(data.toString('utf8', start, Math.min(end, start + 80)));
  return end - start > 80 ? `${text}...` : text;
}
