// What the generator asks of a protocol. protocols/<name>.js, where <name> is Job.protocol, exports one as `protocol`;
// nothing else of openloop knows what is spoken.

/** @import { Deliveries } from './deliveries.js' */
/** @import { Asked, Conversation, ErrorKind, HeldOpen, Job, Slice } from './job.js' */
/** @import { Exchange } from './mix.js' */

/**
 * @typedef {object} Protocol
 * @property {(asked: Asked, job: Job) => Exchange} exchange makes what is sent of what is asked, once for each of
 *   Job.requests; all that can be worked out beforehand is worked out here
 * @property {(job: Job, owner: Owner, held: Held | null) => Connection} connect makes a connection to Job.origin, which
 *   need not be opened before something is sent
 * @property {(job: Job) => Promise<Held>} [hold] opens what stays open for the whole of a load beside the connections
 *   that send: receivers, or connections that idle. It resolves when all of that is open; the load starts afterwards.
 *   A protocol without such has no `hold`
 * @property {(job: Job) => Promise<Answering>} answering starts a server within this process, to warm up for a job
 */

/**
 * One send at a time, from `send` until the owner is told of its one end: onOk or onFailed. Timeouts are the owner's:
 * it gives up a connection that takes too long.
 *
 * @typedef {object} Connection
 * @property {boolean} busy from send to the end
 * @property {Exchange} exchange what was sent last
 * @property {number} intended when that was due; the owner may set it when it is told of the send
 * @property {number} handedAt when `send` was called
 * @property {number} sentAt when it was put on the wire; 0: not yet
 * @property {string | number} [how] it was answered, in a word: the status. A protocol that has none leaves it out
 * @property {(exchange: Exchange, intended: number) => void} send takes an exchange of this protocol
 * @property {() => void} destroy closes it, and gives up what was sent. The owner is not told
 */

/**
 * @typedef {object} Owner is told of what happens on a connection
 * @property {(intended: number) => boolean} counts whether what is due then is measured
 * @property {(connection: Connection, at: number) => void} onSent once for each send, before its end
 * @property {(connection: Connection, at: number) => void} onOk it was answered as expected
 * @property {(connection: Connection, at: number, kind: ErrorKind, answered: boolean, text: string) => void} onFailed
 *   `answered` where the server did answer, but wrongly
 */

/**
 * What `hold` has opened, with whatever else the protocol's own connections need of it.
 *
 * @typedef {object} Held
 * @property {Deliveries | null} deliveries is told by the protocol what its receivers are to get, and what arrives; the
 *   grace period is then for what is missing, too. null: there are no receivers
 * @property {boolean} [inTurn] whether all connections that send are made before the first slice and used in turn, not as
 *   few of them as will do
 * @property {() => Promise<void>} [step] opens the next part of what it holds, where `hold` has opened a part alone
 * @property {() => Promise<void>} [mend] opens again what was lost, between slices
 * @property {number} [closing] connections that were not held and are being closed, which a slice does not end before
 * @property {(slice: Slice) => void} [begin] a slice begins
 * @property {(now: number) => boolean} [isOver] whether what a slice waits for has happened, so that it ends before its time
 * @property {() => void} [end] it is over
 * @property {() => HeldOpen} [measured] what became of what was held open
 * @property {() => void | Promise<void>} close resolves when the other side has had its word
 */

/**
 * A server that answers at once and always well, to warm up on, and to find how fast the generator is.
 *
 * @typedef {object} Answering
 * @property {string} origin
 * @property {Asked} asked what it can be asked
 * @property {Conversation | null} [conversation] what can be done over WebSockets
 * @property {() => void} close
 */

export {};
