// Open a WebSocket with a handshake (RFC 6455, section 4).

import { createHash, randomBytes } from 'node:crypto';

import { OFFER, requireOffered } from './deflate.js';
import { Violation } from './frames.js';

/** @import { Target } from '../types.ts' */

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The server answered, but refused to open a WebSocket. */
export class NotOpened extends Error {}

export class Handshake {
  key = randomBytes(16).toString('base64');

  /** @param {Target} target */
  constructor(target) {
    this.target = target;
    const { origin, path, headers, subprotocols, compression } = target;
    const lines = [`GET ${path} HTTP/1.1`];
    const given = new Set(headers.filter((_, k) => k % 2 === 0).map((name) => name.toLowerCase()));
    const add = (/** @type {string} */ name, /** @type {string} */ value) => {
      if (!given.has(name.toLowerCase())) {
        lines.push(`${name}: ${value}`);
      }
    };
    add('Host', new URL(origin).host);
    add('Origin', origin); // the value that a browser sends for a page from the same server
    lines.push('Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13');
    lines.push(`Sec-WebSocket-Key: ${this.key}`);
    if (subprotocols.length > 0) {
      add('Sec-WebSocket-Protocol', subprotocols.join(', '));
    }
    if (compression) {
      add('Sec-WebSocket-Extensions', OFFER);
    }
    for (let k = 0; k < headers.length; k += 2) {
      lines.push(`${headers[k]}: ${headers[k + 1]}`);
    }
    this.request = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  }

  /**
   * Check the answer to the handshake.
   *
   * @throws {NotOpened} if the server refused to open a WebSocket
   * @throws {Violation} if the answer breaks the rules
   * @param {string} head the head of the answer, without its empty last line
   * @returns {boolean} whether messages may be compressed
   */
  isCompressed(head) {
    const [first, ...lines] = head.split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first);
    if (status === null) {
      throw new Violation(`the server's answer to the handshake starts with '${first.slice(0, 40)}'`);
    }
    if (status[1] !== '101') {
      throw new NotOpened(`status ${status[1]} instead of 101`);
    }
    const headers = byName(lines);
    const { subprotocols, compression } = this.target;
    if (headers.get('upgrade')?.toLowerCase() !== 'websocket') {
      throw new Violation('the answer to the handshake has no header Upgrade: websocket');
    }
    if (!/(^|,)\s*upgrade\s*(,|$)/i.test(headers.get('connection') ?? '')) {
      throw new Violation('the answer to the handshake has no header Connection: Upgrade');
    }
    if (headers.get('sec-websocket-accept') !== acceptOf(this.key)) {
      throw new Violation('the answer to the handshake has the wrong Sec-WebSocket-Accept');
    }
    const chosen = headers.get('sec-websocket-protocol');
    if (subprotocols.length > 0 && !subprotocols.includes(chosen ?? '')) {
      // The offered subprotocols may contain a secret, so the message doesn't name them.
      throw new Violation(chosen ? 'the chosen subprotocol was not offered' : 'the server chose no subprotocol');
    }
    const extensions = headers.get('sec-websocket-extensions');
    if (extensions === undefined) {
      return false;
    }
    if (!compression) {
      throw new Violation(`the server agreed to the extension '${extensions}', which was not offered`);
    }
    requireOffered(extensions);
    return true;
  }
}

export function acceptOf(/** @type {string} */ key) {
  return createHash('sha1').update(key + GUID).digest('base64');
}

/** Return the headers by name, in lower case. Repeated headers are joined with commas. */
function byName(/** @type {string[]} */ lines) {
  /** @type {Map<string, string>} */
  const headers = new Map();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}
