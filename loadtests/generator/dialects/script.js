// The dialect of the user's own messages, which are options on the command line. $ID is a placeholder for the payload,
// which can be anywhere in a received text or binary message. $ROOM is a placeholder for the room. If connections join
// a room with $ROOM, messages of other rooms are stray. Otherwise every connection may receive every message, and
// messages of other senders are ignored.

import { lastRead } from '../websocket/payload.js';

/** @import { Conversation, Dialect, Script } from '../types.ts' */
/** @import { Client } from '../websocket/client.js' */

const ID = '$ID';
const ROOM = '$ROOM';

/** @type {Dialect} */
export const dialect = {
  subprotocols: ({ script }) => script?.subprotocols ?? [],
  path: ({ prefix }, _endpoint, room) => prefix.replaceAll(ROOM, room),
  onOpen(client) {
    const { first, ready } = scriptOf(client);
    for (const text of first) {
      client.write(withRoom(client, text));
    }
    if (ready === '') {
      client.ready();
    }
  },
  onMessage,
  wrap: (client, payload) => withRoom(client, scriptOf(client).send).replaceAll(ID, payload),
  separates,
};

function scriptOf(/** @type {Client} */ client) {
  return /** @type {Script} */ (client.conversation.script);
}

function withRoom(/** @type {Client} */ client, /** @type {string} */ text) {
  return text.replaceAll(ROOM, client.room);
}

/** Return whether connections name the room that they join. */
function separates(/** @type {Conversation} */ { prefix, script }) {
  return [prefix, ...(script?.first ?? [])].some((text) => text.includes(ROOM));
}

/**
 * Return the search patterns for messages: the start of a payload, the start of a payload with the text before it, and
 * the text after a payload.
 */
function matchOf(/** @type {Client} */ client) {
  const token = `${client.conversation.token}:`;
  const [before, tail] = withRoom(client, scriptOf(client).match).split(ID);
  return { token: Buffer.from(token), own: Buffer.from(before + token), tail };
}

/** @type {Dialect['onMessage']} */
function onMessage(client, data, start, end) {
  const message = data.subarray(start, end);
  if (!client.isReady) {
    if (message.includes(withRoom(client, scriptOf(client).ready))) {
      client.ready();
    } else {
      client.pool.ignored(data, start, end);
    }
    return;
  }
  client.memory ??= matchOf(client);
  const { token, own, tail } = client.memory;
  const foundOwn = message.indexOf(own);
  const found = foundOwn < 0 ? message.indexOf(token) : foundOwn + own.length - token.length;
  const { payloads } = client.pool;
  if (found < 0 || !payloads.recognise(message, found, message.length)) {
    client.pool.ignored(data, start, end);
    return;
  }
  const to = Math.min(lastRead.end, message.length);
  const isMine = client.isMine();
  const isMatch = foundOwn >= 0 && message.toString('latin1', to, to + tail.length) === tail;
  if (isMine && client.endpoint === 'publish') {
    if (isMatch && message.toString('latin1', found, to) === client.payload) {
      client.acknowledged(); // the publisher has joined the room, so it also receives the message
    }
  } else if (isMatch || !isMine) {
    client.isText = true;
    client.received(data, start + found, start + to);
  }
}
