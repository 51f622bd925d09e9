// WebSockets (RFC 6455): connections that are opened, kept, and sent on. What is done is Job.conversation; what a server's
// own protocol puts around a message is a file of dialects/.
//
// The framing is our own, on node:net with one buffer that all connections are read into: with the package `ws` a message
// costs about twice as much.

import { Exchange } from '../recorder.js';
import { answering } from '../websocket/answering.js';
import { Pool } from '../websocket/pool.js';

/** @import { Conversation, Dialect, Protocol } from '../types.ts' */

/** @type {Protocol} */
export const protocol = {
  exchange: () => new Exchange(), // what is sent is the conversation's
  connect: (_job, owner, pool) => /** @type {Pool} */ (pool).sender(owner),
  async openPool(job) {
    const conversation = /** @type {Conversation} */ (job.conversation);
    const { dialect } = /** @type {{dialect: Dialect}} */ (await import(`../dialects/${conversation.dialect}.js`));
    const pool = new Pool(job, conversation, dialect);
    await pool.step();
    return pool;
  },
  answering,
};
