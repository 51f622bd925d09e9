// Action Cable: subscriptions to channels. An identifier is JSON within JSON, and comes back with each message as it was
// sent (https://docs.anycable.io/misc/action_cable_protocol).

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
  onOpen: () => {}, // the server sends its welcome first
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

/** The identifier of a client's subscription, as a string of JSON. */
function identifier(/** @type {Client} */ { endpoint, room }) {
  const channel = CHANNELS[endpoint];
  return JSON.stringify(JSON.stringify(endpoint === 'echo' ? { channel } : { channel, room }));
}

/** The text before the payload of each message. */
function headOf(/** @type {Client} */ client) {
  return Buffer.from(`{"identifier":${identifier(client)},"message":{"${keyOf(client)}":"`);
}

/** The key of a payload in a message. */
function keyOf(/** @type {Client} */ { endpoint }) {
  return endpoint === 'echo' ? 'echo' : 'message';
}

/**
 * This is neither a payload nor a ping.
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
  } else if (client.endpoint === 'publish' && (event.message?.ok === true || event.message?.full === true)) {
    client.acknowledged(event.message.full === true);
  } else if (typeof event.message?.[keyOf(client)] === 'string') {
    const payload = Buffer.from(event.message[keyOf(client)]); // with the identifier of another subscription
    client.received(payload, 0, payload.length);
  } else {
    client.fail(`an unexpected message: ${quoted(data, start, end)}`);
  }
}
