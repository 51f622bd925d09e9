// The user's own messages, from the command line: texts in which $ID stands for the payload, which is found again in what
// comes back, in text or in binary, and $ROOM for the room. Where connections join a room by that, what is another room's
// strayed; without it all may be meant to receive all, and what is another's is passed over.

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

/** Whether connections say which room they join. */
function separates(/** @type {Conversation} */ { prefix, script }) {
  return [prefix, ...(script?.first ?? [])].some((text) => text.includes(ROOM));
}

/** What is looked for in messages: the beginning of a payload alone, with what is before it, and what is behind it. */
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
    }
    return;
  }
  client.memory ??= matchOf(client);
  const { token, own, tail } = client.memory;
  const foundOwn = message.indexOf(own);
  const found = foundOwn < 0 ? message.indexOf(token) : foundOwn + own.length - token.length;
  const { payloads } = client.pool;
  if (found < 0 || !payloads.recognise(message, found, message.length)) {
    return;
  }
  const to = Math.min(lastRead.end, message.length);
  const isMine = client.isMine();
  const isMatch = foundOwn >= 0 && message.toString('latin1', to, to + tail.length) === tail;
  if (isMine && client.endpoint === 'publish') {
    if (isMatch && message.toString('latin1', found, to) === client.payload) {
      client.acknowledged(false); // the publisher is in the room, and receives it as well
    }
  } else if (isMatch || !isMine) {
    client.isText = true;
    client.received(data, start + found, start + to);
  }
}
