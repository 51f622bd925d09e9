// Payloads as they are, and three words: `joined`, `ok` and `full`.

import { equals, quoted } from '../websocket/bytes.js';

/** @import { Dialect } from '../types.ts' */

const JOINED = Buffer.from('joined');
const OK = Buffer.from('ok');
const FULL = Buffer.from('full');

/** @type {Dialect} */
export const dialect = {
  subprotocol: () => null,
  path: ({ prefix }, endpoint, room) => (endpoint === 'echo' ? `${prefix}echo/` : `${prefix}${endpoint}/${room}/`),
  onOpen(client) {
    if (client.endpoint !== 'rooms') {
      client.ready();
    }
  },
  onMessage(client, data, start, end) {
    if (client.endpoint === 'publish') {
      const ok = equals(data, start, end, OK);
      if (ok || equals(data, start, end, FULL)) {
        client.acknowledged(!ok);
      } else {
        client.fail(`what was published was answered by ${quoted(data, start, end)}, not by ok or full`);
      }
    } else if (client.isReady) {
      client.received(data, start, end);
    } else if (equals(data, start, end, JOINED)) {
      client.ready();
    } else {
      client.fail(`a room sent ${quoted(data, start, end)} before joined`);
    }
  },
  wrap: (_client, payload) => payload,
};
