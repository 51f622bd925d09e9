// socket.io 4 over Engine.IO 4, on the WebSocket transport alone, in the default namespace.
//
// https://socket.io/docs/v4/socket-io-protocol/ and .../engine-io-protocol/: a packet's type is a digit of Engine.IO (0
// open, 1 close, 2 ping, 3 pong, 4 message), a message's another one of socket.io (0 connect, 1 disconnect, 2 event, 3
// acknowledgement, 4 refused).

import { beginsWith, isJust, told } from '../websocket/talk.js';

/** @import { Dialect, Talk } from '../websocket/talk.js' */

const OPEN = Buffer.from('0');
const PING = Buffer.from('2');
const CONNECTED = Buffer.from('40');
const JOINED = Buffer.from('430["joined"]');
const ECHO = Buffer.from('42["echo","');
const MESSAGE = Buffer.from('42["message","');
const TAKEN = Buffer.from('430["ok"]');
const FULL = Buffer.from('430["full"]');
const TAIL = '"]'.length;

/** @type {Dialect} */
export const dialect = {
  subprotocol: () => null,
  path: () => '/socket.io/?EIO=4&transport=websocket',
  opened: () => {}, // it speaks first
  heard,
  wrap(talk, payload, room) {
    return talk.endpoint === 'echo' ? `42["echo","${payload}"]` : `420["publish","${room}","${payload}"]`;
  },
};

/**
 * @param {Talk} talk
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 */
function heard(talk, data, start, end) {
  if (isJust(data, start, end, PING)) {
    talk.say('3');
  } else if (!talk.isReady) {
    greet(talk, data, start, end);
  } else if (talk.endpoint !== 'publish') {
    const head = talk.endpoint === 'echo' ? ECHO : MESSAGE;
    if (beginsWith(data, start, end, head)) {
      talk.payload(data, start + head.length, end - TAIL);
    } else {
      talk.misheard(`an unexpected packet: ${told(data, start, end)}`);
    }
  } else if (isJust(data, start, end, TAKEN) || isJust(data, start, end, FULL)) {
    talk.taken(isJust(data, start, end, FULL));
  } else {
    talk.misheard(`what was published was answered by ${told(data, start, end)}`);
  }
}

/**
 * @param {Talk} talk
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 */
function greet(talk, data, start, end) {
  if (beginsWith(data, start, end, OPEN)) {
    talk.say('40');
  } else if (beginsWith(data, start, end, CONNECTED) && talk.endpoint === 'rooms') {
    talk.say(`420["join","${talk.room}"]`);
  } else if (beginsWith(data, start, end, CONNECTED) || isJust(data, start, end, JOINED)) {
    talk.ready();
  } else {
    talk.misheard(`an unexpected packet before it was connected: ${told(data, start, end)}`);
  }
}
