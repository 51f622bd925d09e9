// What an application of the user's is told, as the command line says it: texts in which $ID stands for the payload, which
// is found again in what comes back, and $ROOM for the room, which is also what a payload is known by. In a room all hear all,
// so what comes with another name is somebody else's, and is passed over.

/** @import { Script } from '../job.js' */
/** @import { Dialect, Talk } from '../websocket/talk.js' */

const ID = '$ID';
const ROOM = '$ROOM';

/** @type {Dialect} */
export const dialect = {
  subprotocol: ({ script }) => script?.subprotocol || null,
  path: ({ prefix }, _endpoint, room) => prefix.replaceAll(ROOM, room),
  opened,
  heard,
  wrap: (talk, payload) => filled(talk, scriptOf(talk).send).replaceAll(ID, `${talk.room}:${payload}`),
};

/**
 * @param {Talk} talk
 * @returns {Script}
 */
function scriptOf(talk) {
  return /** @type {Script} */ (talk.conversation.script);
}

/**
 * A text with the talk's room.
 *
 * @param {Talk} talk
 * @param {string} text
 */
function filled(talk, text) {
  return text.replaceAll(ROOM, talk.room);
}

/** @param {Talk} talk */
function opened(talk) {
  const { first, ready } = scriptOf(talk);
  for (const text of first) {
    talk.say(filled(talk, text));
  }
  if (ready === '') {
    talk.ready();
  }
}

/**
 * @param {Talk} talk
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 */
function heard(talk, data, start, end) {
  const message = data.subarray(start, end);
  if (!talk.isReady) {
    if (message.includes(filled(talk, scriptOf(talk).ready))) {
      talk.ready();
    }
    return;
  }
  const { match } = scriptOf(talk);
  talk.memory ??= Buffer.from(`${filled(talk, match.slice(0, match.indexOf(ID)))}${talk.room}:`);
  const found = message.indexOf(talk.memory);
  if (found < 0) {
    return;
  }
  const from = found + talk.memory.length;
  const to = Math.min(from + talk.conversation.size, message.length);
  if (!match.endsWith(ID)) {
    const tail = filled(talk, match.slice(match.indexOf(ID) + ID.length));
    if (message.toString('latin1', to, to + tail.length) !== tail) {
      return; // it tells of the payload, but is not what counts
    }
  }
  if (talk.endpoint !== 'publish') {
    talk.payload(data, start + from, start + to);
  } else if (message.toString('latin1', from, to) === talk.sent) {
    talk.taken(false); // whoever publishes is in the room, and hears it as well
  }
}
