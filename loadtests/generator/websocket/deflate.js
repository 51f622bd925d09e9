// Compress messages (RFC 7692). Each message is compressed separately, so connections don't keep a window.

import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';

import { LARGEST, Violation } from './frames.js';

export const OFFER = 'permessage-deflate; client_no_context_takeover; server_no_context_takeover';

const END = Buffer.from([0x00, 0x00, 0xff, 0xff]); // the end of each compressed message, which is never sent
const ALLOWED = /^(client_no_context_takeover|server_no_context_takeover|server_max_window_bits=("?)\d+\2)$/;

/**
 * Throw Violation if a server agreed to a parameter that was not offered.
 *
 * @param {string} answer its header Sec-WebSocket-Extensions
 */
export function requireOffered(answer) {
  const [name, ...parameters] = answer.split(';').map((part) => part.trim().toLowerCase());
  const allowed = name === 'permessage-deflate' && parameters.every((parameter) => ALLOWED.test(parameter));
  if (!allowed || !parameters.includes('server_no_context_takeover')) {
    throw new Violation(`it agreed to the extension '${answer}', and was offered '${OFFER}'`);
  }
}

export function deflate(/** @type {string | Buffer} */ payload) {
  return deflateRawSync(payload, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -END.length);
}

/** Throws Violation. */
export function inflate(/** @type {Buffer} */ data) {
  try {
    return inflateRawSync(Buffer.concat([data, END]), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: LARGEST,
    });
  } catch (error) {
    throw new Violation(`it compressed a message wrongly: ${/** @type {Error} */ (error).message}`, 1007);
  }
}
