// Open a WebSocket with a handshake (RFC 6455, section 4).

import { createHash, randomBytes } from 'node:crypto';

import { Violation } from './frames.js';

/** @import { Target } from '../types.ts' */

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The server answered, but refused to open a WebSocket. */
export class NotOpened extends Error {}

export class Handshake {
  key = randomBytes(16).toString('base64');
  lacksSubprotocol = false;

  /** @param {Target} target */
  constructor(target) {
    this.target = target;
    const { origin, path, headers, subprotocols } = target;
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
   */
  check(head) {
    const status = /^HTTP\/1\.1 (\d{3})(?: |$)/m.exec(head);
    if (status?.index !== 0) {
      throw new Violation(`the server's answer to the handshake starts with '${head.slice(0, 40)}'`);
    }
    if (status[1] !== '101') {
      throw new NotOpened(`status ${status[1]} instead of 101`);
    }
    const header = (/** @type {string} */ name) => new RegExp(`^${name}:[ \t]*(.*?)[ \t]*$`, 'im').exec(head)?.[1];
    const { subprotocols } = this.target;
    if (header('Upgrade')?.toLowerCase() !== 'websocket' || !/\bupgrade\b/i.test(header('Connection') ?? '')) {
      throw new Violation('the answer to the handshake lacks Upgrade: websocket or Connection: Upgrade');
    }
    if (header('Sec-WebSocket-Accept') !== acceptOf(this.key)) {
      throw new Violation('the answer to the handshake has the wrong Sec-WebSocket-Accept');
    }
    const chosen = header('Sec-WebSocket-Protocol');
    this.lacksSubprotocol = subprotocols.length > 0 && chosen === undefined;
    if (chosen !== undefined && !subprotocols.includes(chosen)) {
      throw new Violation('the chosen subprotocol was not offered'); // the offer may contain a secret
    }
    const extensions = header('Sec-WebSocket-Extensions');
    if (extensions !== undefined) {
      throw new Violation(`the server agreed to the extension '${extensions}', which was not offered`);
    }
  }
}

export function acceptOf(/** @type {string} */ key) {
  return createHash('sha1').update(key + GUID).digest('base64');
}
