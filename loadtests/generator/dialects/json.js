// As plain, but each message is a string of JSON. Nothing that is said so needs an escape.

import { told } from '../websocket/talk.js';
import * as plain from './plain.js';

/** @import { Dialect } from '../websocket/talk.js' */

const QUOTE = 34;

/** @type {Dialect} */
export const dialect = {
  ...plain.dialect,
  heard(talk, data, start, end) {
    if (end - start < 2 || data[start] !== QUOTE || data[end - 1] !== QUOTE) {
      talk.misheard(`${told(data, start, end)} is not a string of JSON`);
    } else {
      plain.heard(talk, data, start + 1, end - 1);
    }
  },
  wrap: (_talk, payload) => `"${payload}"`,
};
