// Compress messages (RFC 7692). Each message is compressed separately, so connections need no compression window.

import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';

import { LARGEST, Violation } from './frames.js';

export const OFFER = 'permessage-deflate; client_no_context_takeover; server_no_context_takeover';

const END = Buffer.from([0x00, 0x00, 0xff, 0xff]); // the end of each compressed message, which is never sent
const ALLOWED = /^(client_no_context_takeover|server_no_context_takeover|server_max_window_bits=("?)\d+\2)$/;

/**
 * Throw Violation if a server agreed to a parameter that was not offered.
 *
 * @param {string} answer the server's header Sec-WebSocket-Extensions
 */
export function requireOffered(answer) {
  const [name, ...parameters] = answer.split(';').map((part) => part.trim().toLowerCase());
  const allowed = name === 'permessage-deflate' && parameters.every((parameter) => ALLOWED.test(parameter));
  if (!allowed || !parameters.includes('server_no_context_takeover')) {
    throw new Violation(`the server agreed to the extension '${answer}', but the client offered '${OFFER}'`);
  }
}

export function deflate(/** @type {string | Buffer} */ payload) {
  return deflateRawSync(payload, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -END.length);
}

/** Return the uncompressed message. @throws {Violation} if the message can't be decompressed */
export function inflate(/** @type {Buffer} */ data) {
  try {
    return inflateRawSync(Buffer.concat([data, END]), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: LARGEST,
    });
  } catch (error) {
    throw new Violation(`the server compressed a message wrongly: ${/** @type {Error} */ (error).message}`, 1007);
  }
}
