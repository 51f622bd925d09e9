// The dialect of Action Cable, in which clients subscribe to channels. The identifier of a subscription is JSON within
// JSON, and the server repeats it unchanged in each message (https://docs.anycable.io/misc/action_cable_protocol).

import { beginsWith, quoted } from '../websocket/bytes.js';

/** @import { Dialect } from '../types.ts' */
/** @import { Client } from '../websocket/client.js' */

const CHANNELS = { echo: 'EchoChannel', rooms: 'RoomChannel', publish: 'PublishChannel' };
const PING = Buffer.from('{"type":"ping"');
const TAIL = '"}}'.length;

/** @type {Dialect} */
export const dialect = {
  subprotocols: () => ['actioncable-v1-json'],
  path: () => '/cable',
  onOpen: () => {}, // the server sends a welcome message first
  onMessage(client, data, start, end) {
    client.memory ??= headOf(client);
    if (client.isReady && beginsWith(data, start, end, client.memory)) {
      client.received(data, start + client.memory.length, end - TAIL);
    } else if (!beginsWith(data, start, end, PING)) {
      onOther(client, data, start, end);
    }
  },
  wrap(client, payload) {
    const action = client.endpoint === 'echo' ? 'echo' : 'publish';
    const inner = JSON.stringify(`{"action":"${action}","payload":"${payload}"}`);
    return `{"command":"message","identifier":${identifier(client)},"data":${inner}}`;
  },
};

/** Return the identifier of a client's subscription as a JSON string. */
function identifier(/** @type {Client} */ { endpoint, room }) {
  const channel = CHANNELS[endpoint];
  return JSON.stringify(JSON.stringify(endpoint === 'echo' ? { channel } : { channel, room }));
}

/** Return the text before the payload of each message. */
function headOf(/** @type {Client} */ client) {
  return Buffer.from(`{"identifier":${identifier(client)},"message":{"${keyOf(client)}":"`);
}

/** Return the key of the payload in a message. */
function keyOf(/** @type {Client} */ { endpoint }) {
  return endpoint === 'echo' ? 'echo' : 'message';
}

/**
 * Process a message that is neither a ping nor a payload of the client's own subscription.
 *
 * @type {Dialect['onMessage']}
 */
function onOther(client, data, start, end) {
  let event;
  try {
    event = JSON.parse(data.toString('utf8', start, end)) ?? {};
  } catch {
    event = {};
  }
  if (event.type === 'welcome') {
    client.write(`{"command":"subscribe","identifier":${identifier(client)}}`);
  } else if (event.type === 'confirm_subscription') {
    client.ready();
  } else if (client.endpoint === 'publish' && event.message?.ok === true) {
    client.acknowledged();
  } else if (typeof event.message?.[keyOf(client)] === 'string') {
    const payload = Buffer.from(event.message[keyOf(client)]); // a payload with the identifier of another subscription
    client.received(payload, 0, payload.length);
  } else {
    client.fail(`an unexpected message: ${quoted(data, start, end)}`);
  }
}
