// Assign publishers and receivers to the rooms in which messages are published.

/** @import { Conversation, Job, Sends, Sent } from '../types.ts' */
/** @import { ReceivingClient } from './clients.js' */

/**
 * The rooms of one process, with their publishers and receivers. This process identifies a room by an index, and the
 * server identifies the room by a name.
 */
export class Rooms {
  silent = 0; // the number of other processes that may still send in this slice

  /** @param {Job} job @param {Conversation} conversation */
  constructor({ index, processes }, { rooms, token }) {
    this.index = index;
    this.processes = processes;
    // Each load uses different room names, because a server may remember the rooms of earlier loads.
    this.names = Array.from({ length: rooms }, (_, room) => `${this.prefix(token)}r${room}`);
    /** @type {ReceivingClient[][]} */
    this.receivers = this.names.map(() => []);  // for each room, the receivers that were open at the start of the slice
  }

  prefix(/** @type {string} */ token) {
    return `${token}x${this.index}`;
  }

  /** Return the names of the rooms in which this process publishes. */
  get published() {
    return this.names;
  }

  /** Return the index of the room of this process's k-th receiver. */
  ofReceiver(/** @type {number} */ k) {
    return k % this.names.length;
  }

  /** Return the index of a stream's room, or -1 if the stream belongs to another process. */
  ofStream(/** @type {number} */ stream) {
    const k = (stream - 1 - this.index) / this.processes;
    return Number.isInteger(k) ? k % this.names.length : -1;
  }

  /** Start a slice. */
  begin(/** @type {ReceivingClient[]} */ clients) {
    this.receivers = this.names.map(() => []);
    for (const [k, client] of clients.entries()) {
      if (client.isOpen) {
        this.receivers[this.ofReceiver(k)].push(client);
      }
    }
  }

  /** Record a message that was sent, or that was withdrawn if its due time is null. */
  wasSent(/** @type {Sent} */ _sent) {}

  /**
   * Return the sends to forward to other processes.
   *
   * @param {boolean} _all whether the slice has no more sends
   * @returns {Sends | null} null if there are no sends to forward
   */
  take(_all) {
    return null;
  }
}

/**
 * Rooms with receivers in several processes, used if there are fewer rooms than processes. The k-th process publishes
 * in the k-th room. Each process counts the deliveries to its own receivers. Through the harness, the publishing
 * process reports to the other processes which messages it sent and when. The harness converts the times between the
 * clocks of the processes.
 */
export class SharedRooms extends Rooms {
  /** @type {Sent[]} */
  sends = []; // not forwarded yet
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
