// The rooms that messages are published in, and who is in them.

/** @import { Conversation, Job, Sends, Sent } from '../types.ts' */
/** @import { ReceivingClient } from './clients.js' */

/** Rooms of one process, with all who publish and receive there. A room is known by its place, and to the server by name. */
export class Rooms {
  silent = 0; // other processes that may still send in this slice

  /** @param {Job} job @param {Conversation} conversation */
  constructor({ index, processes }, { rooms, token }) {
    this.index = index;
    this.processes = processes;
    // No two loads have the same rooms: a server may remember those of one before.
    this.names = Array.from({ length: rooms }, (_, room) => `${this.prefix(token)}r${room}`);
    /** @type {ReceivingClient[][]} */
    this.receivers = this.names.map(() => []); // by room, those that were open when the slice began
  }

  prefix(/** @type {string} */ token) {
    return `${token}x${this.index}`;
  }

  /** The names of those that this process publishes in. */
  get published() {
    return this.names;
  }

  /** The room of the k-th receiver of this process. */
  ofReceiver(/** @type {number} */ k) {
    return k % this.names.length;
  }

  /** The room of a stream; -1: of another process. */
  ofStream(/** @type {number} */ stream) {
    const k = (stream - 1 - this.index) / this.processes;
    return Number.isInteger(k) ? k % this.names.length : -1;
  }

  /** A slice begins. */
  begin(/** @type {ReceivingClient[]} */ clients) {
    this.receivers = this.names.map(() => []);
    for (const [k, client] of clients.entries()) {
      if (client.isOpen) {
        this.receivers[this.ofReceiver(k)].push(client);
      }
    }
  }

  /** A message was sent, `intended` for then; null: it was not sent on. */
  wasSent(/** @type {Sent} */ _sent) {}

  /**
   * What is to be passed on to other processes.
   *
   * @param {boolean} _all nothing more is sent in this slice
   * @returns {Sends | null} null: nothing
   */
  take(_all) {
    return null;
  }
}

/**
 * Rooms whose receivers are in several processes, of which there are more than rooms: the k-th process publishes in the
 * k-th room. Each counts what its own receivers get; what was sent to them, and when, it learns from who publishes, by way
 * of the harness, which knows their clocks.
 */
export class SharedRooms extends Rooms {
  /** @type {Sent[]} */
  sends = []; // not yet passed on
  isAllPassedOn = true;

  prefix(/** @type {string} */ token) {
    return token;
  }

  get published() {
    return this.names.slice(this.index, this.index + 1);
  }

  ofReceiver(/** @type {number} */ k) {
    return (this.index + k * this.processes) % this.names.length;
  }

  ofStream(/** @type {number} */ stream) {
    return (stream - 1) % this.processes;
  }

  begin(/** @type {ReceivingClient[]} */ clients) {
    super.begin(clients);
    const own = this.published.length;
    this.silent = this.names.length - own;
    this.isAllPassedOn = own === 0;
  }

  wasSent(/** @type {Sent} */ sent) {
    this.sends.push(sent);
  }

  /** @type {Rooms['take']} */
  take(all) {
    if (this.isAllPassedOn || (this.sends.length === 0 && !all)) {
      return null;
    }
    this.isAllPassedOn = all;
    const { sends } = this;
    this.sends = [];
    return { sends, all };
  }
}
