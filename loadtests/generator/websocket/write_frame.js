// Write frames (RFC 6455, sections 5.2 and 5.3).

import { randomFillSync } from 'node:crypto';

import { FIN, MASKED } from './frames.js';

const keys = Buffer.alloc(8192); // random bytes for the masks of many frames
let keysUsed = keys.length;

/**
 * Create a client's frame, which is masked with an unpredictable key.
 *
 * @param {number} opcode
 * @param {string | Buffer} payload a string is ASCII
 */
export function frame(opcode, payload) {
  const bytes = unmasked(FIN | opcode, payload, 4);
  const start = bytes.length - payload.length;
  bytes[1] |= MASKED;
  if (keysUsed === keys.length) {
    randomFillSync(keys);
    keysUsed = 0;
  }
  const key = keysUsed;
  keysUsed += 4;
  keys.copy(bytes, start - 4, key, key + 4);
  for (let at = start, k = 0; at < bytes.length; at++, k = (k + 1) & 3) {
    bytes[at] ^= keys[key + k];
  }
  return bytes;
}

/** Create a server's frame, which isn't masked. */
export function serverFrame(/** @type {number} */ opcode, /** @type {Buffer} */ payload) {
  return unmasked(FIN | opcode, payload, 0);
}

/**
 * @param {number} first byte
 * @param {string | Buffer} payload
 * @param {number} keyBytes space for a key
 */
function unmasked(first, payload, keyBytes) {
  const { length } = payload;
  const header = (length < 126 ? 2 : length < 65536 ? 4 : 10) + keyBytes;
  const bytes = Buffer.allocUnsafe(header + length);
  bytes[0] = first;
  if (length < 126) {
    bytes[1] = length;
  } else if (length < 65536) {
    bytes[1] = 126;
    bytes.writeUInt16BE(length, 2);
  } else {
    bytes[1] = 127;
    bytes.writeUInt32BE(0, 2);
    bytes.writeUInt32BE(length, 6);
  }
  if (typeof payload === 'string') {
    bytes.write(payload, header, 'latin1');
  } else {
    payload.copy(bytes, header);
  }
  return bytes;
}
