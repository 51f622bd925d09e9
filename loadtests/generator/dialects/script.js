// The user's own messages, from the command line: texts in which $ID stands for the payload, which is found again in what
// comes back, and $ROOM for the room. In a room all receive all, so a payload is sent with the room's name, and what comes
// with another name is somebody else's and ignored.

/** @import { Dialect, Script } from '../types.ts' */
/** @import { Client } from '../websocket/client.js' */

const ID = '$ID';
const ROOM = '$ROOM';

/** @type {Dialect} */
export const dialect = {
  subprotocol: ({ script }) => script?.subprotocol || null,
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
  wrap: (client, payload) => withRoom(client, scriptOf(client).send).replaceAll(ID, `${client.room}:${payload}`),
};

function scriptOf(/** @type {Client} */ client) {
  return /** @type {Script} */ (client.conversation.script);
}

function withRoom(/** @type {Client} */ client, /** @type {string} */ text) {
  return text.replaceAll(ROOM, client.room);
}

/** @type {Dialect['onMessage']} */
function onMessage(client, data, start, end) {
  const message = data.subarray(start, end);
  const { ready, match } = scriptOf(client);
  if (!client.isReady) {
    if (message.includes(withRoom(client, ready))) {
      client.ready();
    }
    return;
  }
  client.memory ??= Buffer.from(`${withRoom(client, match.slice(0, match.indexOf(ID)))}${client.room}:`);
  const found = message.indexOf(client.memory);
  if (found < 0) {
    return;
  }
  const from = found + client.memory.length;
  const to = Math.min(from + client.conversation.size, message.length);
  const tail = withRoom(client, match.slice(match.indexOf(ID) + ID.length));
  if (message.toString('latin1', to, to + tail.length) !== tail) {
    return; // it has the payload, but is not what counts
  }
  if (client.endpoint !== 'publish') {
    client.received(data, start + from, start + to);
  } else if (message.toString('latin1', from, to) === client.payload) {
    client.acknowledged(false); // the publisher is in the room, and receives it as well
  }
}
