// The dialect of Socket.IO 4 over Engine.IO 4, with only the WebSocket transport and only the default namespace.
//
// See https://socket.io/docs/v4/socket-io-protocol/ and .../engine-io-protocol/. The first digit is the type of the
// Engine.IO packet (0 open, 1 close, 2 ping, 3 pong, 4 message). In a message, the second digit is the type of the
// Socket.IO packet (0 connect, 1 disconnect, 2 event, 3 acknowledgement, 4 refused).

import { beginsWith, equals, quoted } from '../websocket/bytes.js';

/** @import { Dialect } from '../types.ts' */

const OPEN = Buffer.from('0');
const PING = Buffer.from('2');
const CONNECTED = Buffer.from('40');
const JOINED = Buffer.from('430["joined"]');
const ECHO = Buffer.from('42["echo","');
const MESSAGE = Buffer.from('42["message","');
const TAKEN = Buffer.from('430["ok"]');
const TAIL = '"]'.length;

/** @type {Dialect} */
export const dialect = {
  subprotocols: () => [],
  path: () => '/socket.io/?EIO=4&transport=websocket',
  onOpen: () => {}, // the server sends the first message
  onMessage(client, data, start, end) {
    if (equals(data, start, end, PING)) {
      client.write('3');
    } else if (!client.isReady) {
      greet(client, data, start, end);
    } else if (client.endpoint === 'publish' && equals(data, start, end, TAKEN)) {
      client.acknowledged();
    } else {
      const head = client.endpoint === 'echo' ? ECHO : MESSAGE;
      if (beginsWith(data, start, end, head)) {
        client.received(data, start + head.length, end - TAIL);
      } else {
        client.fail(`an unexpected packet: ${quoted(data, start, end)}`);
      }
    }
  },
  wrap({ endpoint, room }, payload) {
    return endpoint === 'echo' ? `42["echo","${payload}"]` : `420["publish","${room}","${payload}"]`;
  },
};

/** @type {Dialect['onMessage']} */
function greet(client, data, start, end) {
  if (beginsWith(data, start, end, OPEN)) {
    client.write('40');
  } else if (beginsWith(data, start, end, CONNECTED) && client.endpoint === 'rooms') {
    client.write(`420["join","${client.room}"]`);
  } else if (beginsWith(data, start, end, CONNECTED) || equals(data, start, end, JOINED)) {
    client.ready();
  } else {
    client.fail(`an unexpected packet before the client was ready: ${quoted(data, start, end)}`);
  }
}
