// The dialect `plain`: payloads without a wrapper, and the messages `joined` and `ok`.

import { equals, quoted } from '../websocket/bytes.js';

/** @import { Dialect } from '../types.ts' */

const JOINED = Buffer.from('joined');
const OK = Buffer.from('ok');

/** @type {Dialect} */
export const dialect = {
  subprotocols: () => [],
  path: ({ prefix }, endpoint, room) => (endpoint === 'echo' ? `${prefix}echo/` : `${prefix}${endpoint}/${room}/`),
  onOpen(client) {
    if (client.endpoint !== 'rooms') {
      client.ready();
    }
  },
  onMessage(client, data, start, end) {
    if (client.endpoint === 'publish' && equals(data, start, end, OK)) {
      client.acknowledged();
    } else if (client.isReady) {
      client.received(data, start, end);
    } else if (equals(data, start, end, JOINED)) {
      client.ready();
    } else {
      client.fail(`a room sent ${quoted(data, start, end)} before 'joined'`);
    }
  },
  wrap: (_client, payload) => payload,
};
