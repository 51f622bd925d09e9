// Like the dialect `plain`, but each message is a JSON string. Sent payloads contain no characters to escape.

import { quoted } from '../websocket/bytes.js';
import { dialect as plain } from './plain.js';

/** @import { Dialect } from '../types.ts' */

const QUOTE = 34;

/** @type {Dialect} */
export const dialect = {
  ...plain,
  onMessage(client, data, start, end) {
    if (end - start < 2 || data[start] !== QUOTE || data[end - 1] !== QUOTE) {
      client.fail(`${quoted(data, start, end)} is not a JSON string`);
    } else {
      plain.onMessage(client, data, start + 1, end - 1);
    }
  },
  wrap: (_client, payload) => `"${payload}"`,
};
