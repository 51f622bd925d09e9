// Send messages over WebSockets (RFC 6455). Job.conversation defines the connections and the messages. The files in
// dialects/ define how each kind of server wraps a message.
//
// This module frames messages itself, with node:net and one read buffer for all connections. With the package `ws`, a
// message costs about twice as much CPU time.

import { Exchange } from '../recorder.js';
import { answering } from '../websocket/answering.js';
import { Pool } from '../websocket/pool.js';

/** @import { Conversation, Dialect, Protocol } from '../types.ts' */

/** @type {Protocol} */
export const protocol = {
  exchange: () => new Exchange(),  // the conversation defines the messages
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
