// WebSockets (RFC 6455): connections that are opened, held, and spoken on. What is done is Job.conversation; what a
// server's own protocol puts around a message is a file of dialects/.
//
// The framing is our own, on node:net with one buffer that all connections are read into, for that costs least: a
// message takes about half of what it takes with the package ws.

import { Exchange } from '../mix.js';
import { answering } from '../websocket/answering.js';
import { Held } from '../websocket/held.js';
import { RejoinHeld } from '../websocket/rejoining.js';

/** @import { Conversation, Job } from '../job.js' */
/** @import { Protocol } from '../protocol.js' */
/** @import { Dialect } from '../websocket/talk.js' */

/** @type {Protocol} */
export const protocol = {
  exchange: () => new Exchange(), // what is sent is the conversation's
  connect: (_job, owner, held) => /** @type {Held} */ (held).sender(owner),
  hold,
  answering,
};

/** @param {Job} job */
async function hold(job) {
  const conversation = /** @type {Conversation} */ (job.conversation);
  const { dialect } = /** @type {{dialect: Dialect}} */ (await import(`../dialects/${conversation.dialect}.js`));
  const Kind = conversation.does === 'rejoin' ? RejoinHeld : Held;
  const held = new Kind(job, conversation, dialect);
  await held.step();
  return held;
}
