// Action Cable: subscriptions to channels. An identifier is JSON within JSON, and comes back with each message as it was
// sent (https://docs.anycable.io/misc/action_cable_protocol).

import { beginsWith, told } from '../websocket/talk.js';

/** @import { Dialect, Talk } from '../websocket/talk.js' */

const CHANNELS = { echo: 'EchoChannel', rooms: 'RoomChannel', publish: 'PublishChannel' };
const PING = Buffer.from('{"type":"ping"');
const TAIL = '"}}'.length;

/** @type {Dialect} */
export const dialect = {
  subprotocol: () => 'actioncable-v1-json',
  path: () => '/cable',
  opened: () => {}, // it says welcome first
  heard,
  wrap(talk, payload) {
    const action = talk.endpoint === 'echo' ? 'echo' : 'publish';
    const inner = JSON.stringify(`{"action":"${action}","payload":"${payload}"}`);
    return `{"command":"message","identifier":${identifier(talk)},"data":${inner}}`;
  },
};

/**
 * The identifier of a talk's subscription, as a string of JSON.
 *
 * @param {Talk} talk
 */
function identifier({ endpoint, room }) {
  const channel = CHANNELS[endpoint];
  return JSON.stringify(JSON.stringify(endpoint === 'echo' ? { channel } : { channel, room }));
}

/**
 * What is before the payload of each message.
 *
 * @param {Talk} talk
 */
function headOf(talk) {
  const key = talk.endpoint === 'echo' ? 'echo' : 'message';
  return Buffer.from(`{"identifier":${identifier(talk)},"message":{"${key}":"`);
}

/**
 * @param {Talk} talk
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 */
function heard(talk, data, start, end) {
  talk.memory ??= headOf(talk);
  if (talk.isReady && beginsWith(data, start, end, talk.memory)) {
    talk.payload(data, start + talk.memory.length, end - TAIL);
  } else if (!beginsWith(data, start, end, PING)) {
    other(talk, data, start, end);
  }
}

/**
 * What is neither a payload nor a ping.
 *
 * @param {Talk} talk
 * @param {Buffer} data
 * @param {number} start
 * @param {number} end
 */
function other(talk, data, start, end) {
  let said;
  try {
    said = JSON.parse(data.toString('utf8', start, end));
  } catch {
    said = {};
  }
  if (said.type === 'welcome') {
    talk.say(`{"command":"subscribe","identifier":${identifier(talk)}}`);
  } else if (said.type === 'confirm_subscription') {
    talk.ready();
  } else if (talk.endpoint === 'publish' && (said.message?.ok === true || said.message?.full === true)) {
    talk.taken(said.message.full === true);
  } else {
    talk.misheard(`an unexpected message: ${told(data, start, end)}`);
  }
}
