// Payloads as they are, and three words: `joined`, `ok` and `full`.

import { isJust, told } from '../websocket/talk.js';

/** @import { Conversation } from '../job.js' */
/** @import { Dialect, Endpoint, Talk } from '../websocket/talk.js' */

const JOINED = Buffer.from('joined');
const OK = Buffer.from('ok');
const FULL = Buffer.from('full');

/** @type {Dialect} */
export const dialect = { subprotocol: () => null, path, opened, heard, wrap: (_talk, payload) => payload };

/**
 * @param {Conversation} conversation
 * @param {Endpoint} endpoint
 * @param {string} room
 */
export function path({ prefix }, endpoint, room) {
  return endpoint === 'echo' ? `${prefix}echo/` : `${prefix}${endpoint}/${room}/`;
}

/** @param {Talk} talk */
export function opened(talk) {
  if (talk.endpoint !== 'rooms') {
    talk.ready();
  }
}

/**
 * @param {Talk} talk
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 */
export function heard(talk, data, start, end) {
  if (talk.endpoint === 'publish') {
    const ok = isJust(data, start, end, OK);
    if (ok || isJust(data, start, end, FULL)) {
      talk.taken(!ok);
    } else {
      talk.misheard(`what was published was answered by ${told(data, start, end)}, not by ok or full`);
    }
  } else if (talk.isReady) {
    talk.payload(data, start, end);
  } else if (isJust(data, start, end, JOINED)) {
    talk.ready();
  } else {
    talk.misheard(`a room said ${told(data, start, end)} before it said joined`);
  }
}
