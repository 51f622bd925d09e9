// Frames as a client writes them, RFC 6455, sections 5.2 and 5.3.

import { randomFillSync } from 'node:crypto';

import { FIN, MASKED, RSV1 } from './frames.js';

const keys = Buffer.alloc(8192); // of masks, drawn many at a time
let keysUsed = keys.length;

/**
 * A whole frame as a client sends it: masked, by a key that nobody can foretell.
 *
 * @param {number} opcode
 * @param {string | Buffer} payload a string is ASCII
 * @param {boolean} masking false: with a key of zeros, which masks nothing: to see what masking costs
 * @param {boolean} compressed
 * @returns {Buffer}
 */
export function frame(opcode, payload, masking = true, compressed = false) {
  const { length } = payload;
  const header = length < 126 ? 6 : length < 65536 ? 8 : 14;
  const bytes = Buffer.allocUnsafe(header + length);
  bytes[0] = FIN | (compressed ? RSV1 : 0) | opcode;
  if (header === 6) {
    bytes[1] = MASKED | length;
  } else if (header === 8) {
    bytes[1] = MASKED | 126;
    bytes.writeUInt16BE(length, 2);
  } else {
    bytes[1] = MASKED | 127;
    bytes.writeUInt32BE(0, 2);
    bytes.writeUInt32BE(length, 6);
  }
  if (typeof payload === 'string') {
    bytes.write(payload, header, 'latin1');
  } else {
    payload.copy(bytes, header);
  }
  if (masking) {
    mask(bytes, header);
  } else {
    bytes.fill(0, header - 4, header);
  }
  return bytes;
}

/**
 * @param {Buffer} bytes
 * @param {number} start of the payload, with room for the key before it
 */
function mask(bytes, start) {
  if (keysUsed === keys.length) {
    randomFillSync(keys);
    keysUsed = 0;
  }
  const key = keysUsed;
  keysUsed += 4;
  for (let k = 0; k < 4; k++) {
    bytes[start - 4 + k] = keys[key + k];
  }
  for (let at = start, k = 0; at < bytes.length; at++, k = (k + 1) & 3) {
    bytes[at] ^= keys[key + k];
  }
}
