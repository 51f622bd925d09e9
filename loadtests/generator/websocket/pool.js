// Open the WebSockets that stay open for a whole load, and count their outcomes.

import { nowMs } from '../clock.js';
import { Deliveries } from '../deliveries.js';
import { addressOf } from '../loopback.js';
import { readDelay } from '../read_delay.js';
import { Times } from '../times.js';
import { asUser } from '../turns.js';
import { quoted } from './bytes.js';
import { Client } from './client.js';
import { EchoClient, PublishingClient, ReceivingClient } from './clients.js';
import { Payloads } from './payload.js';
import { ConnectSender, EchoSender, PublishSender } from './senders.js';

/** @import { ConnectionCounts, Conversation, Dialect, Endpoint, Failure, Job, OnBytes, Owner, Room, Slice, Target, Traffic } from '../types.ts' */

// The number of connections that are opened at the same time: enough to keep the server busy, but too few to fill its
// backlog.
const AT_ONCE = 32;
// By default, an address has 28,232 ports for one destination. Some of these ports must remain for other programs.
const PORTS = 20_000;
const ADDRESSES = 8; // consecutive connections use different addresses, because a used port isn't available for a while

export class Pool {
  traffic = { sent: 0, received: 0 };
  names = 0; // the number of names that nextName has returned
  receiversNamed = 0;
  /** @type {Client[]} */
  clients = [];
  /** @type {EchoClient[]} */
  echoing = [];
  echoes = 0; // messages that were sent in an open loop
  /** @type {any[]} */
  free = []; // the clients for future senders: one client for an echo sender, or one in each room for a publisher
  turns = 0; // the number of published messages
  connects = 0;
  closing = 0; // the number of connections outside the pool that are being closed
  /** @type {number[]} */
  steps = []; // the number of open clients after each step
  tried = 0;
  opened = 0;
  lost = 0;
  openingTimes = new Times();
  openedInMs = 0;
  example = ''; // the text of the first failure
  other = ''; // describes the last message that was neither expected nor known, for the contract
  /** @type {Traffic | null} */
  trafficBefore = null;  // the traffic at the start of the measured time
  measuredTraffic = { sent: 0, received: 0 };
  closed = false;

  /** @param {Job} job @param {Conversation} conversation @param {Dialect} dialect */
  constructor(job, conversation, dialect) {
    const { origin, requests, timeoutMs, rate, index, processes, contract } = job;
    const { host, port } = addressOf(origin);
    const { does } = conversation;
    this.conversation = conversation;
    this.index = index;
    this.processes = processes;
    this.id = `${conversation.token}x${index}`;
    this.dialect = dialect;
    this.timeoutMs = timeoutMs;
    this.quotes = contract === true;
    this.request = requests[0];
    const subprotocols = dialect.subprotocols(conversation);
    this.server = { origin, host, port, subprotocols, traffic: this.traffic };
    this.hasAddresses = process.platform === 'linux' && host.startsWith('127.');
    this.payloads = new Payloads(conversation.size, conversation.token);
    this.roundRobin = does === 'broadcast';
    this.isOpenLoop = does === 'echo' && rate !== null;
    const straysAreKnown = dialect.separates?.(conversation) ?? true;
    const counts = does === 'echo' || does === 'broadcast';
    this.deliveries = counts ? new Deliveries((at) => readDelay.waited(at), straysAreKnown) : null;
    // Each load uses different room names, because a server may remember the rooms of earlier loads.
    const names = Array.from({ length: conversation.rooms }, (_, room) => `${this.id}r${room}`);
    /** @type {Room[]} */
    this.rooms = names.map((name) => ({ name, members: [], present: [] }));
    this.createClients(job, conversation.receivers);
  }

  /** @param {Job} job @param {number} receivers */
  createClients({ connections }, receivers) {
    const { clients, rooms } = this;
    const { does } = this.conversation;
    for (let k = 0; does === 'idle' && k < receivers; k++) {
      clients.push(new Client(this, 'echo', this.nextName(), k));
    }
    for (let k = 0; does === 'broadcast' && k < receivers; k++) {
      const { name, members } = rooms[k % rooms.length];
      const receiver = new ReceivingClient(this, 'rooms', name, k);
      members.push(receiver);
      clients.push(receiver);
    }
    let streams = 0;
    for (let k = 0; does === 'broadcast' && k < connections; k++) {
      // Some dialects could publish in all rooms over one connection, but then setups would have different numbers of
      // connections.
      const own = rooms.map((room, r) => new PublishingClient(this, room, clients.length + r, this.stream(streams++)));
      clients.push(...own);
      this.free.push(own);
    }
    for (let k = 0; does === 'echo' && k < connections; k++) {
      this.echoing.push(new EchoClient(this, k, this.stream(k)));
    }
    clients.push(...this.echoing);
    this.free.push(...this.echoing);
    this.free.reverse();
  }

  /** Open all clients, or the clients of the next step. */
  async step() {
    const begun = nowMs();
    const took = this.openedInMs;
    const until = Math.ceil((this.clients.length * (this.steps.length + 1)) / this.conversation.steps);
    await this.openEach(this.clients.slice(this.tried, until), (ms) => {
      this.opened++;
      this.openingTimes.record(ms);
      this.openedInMs = took + nowMs() - begun;
    });
    this.tried = until;
    this.steps.push(this.opened);
  }

  /** Open lost clients again. Clients that never opened stay closed. */
  async reopen() {
    const lost = this.clients.filter((client) => client.wasOpened && !client.isOpen);
    await this.openEach(lost, () => {});
  }

  /**
   * Open clients, up to AT_ONCE at a time. After AT_ONCE consecutive failures, don't try the rest.
   *
   * @param {Client[]} clients
   * @param {(ms: number) => void} onOpened called with the time to open a client
   */
  async openEach(clients, onOpened) {
    let next = 0;
    let failed = 0;
    const open = async () => {
      while (next < clients.length && failed < AT_ONCE) {
        const begun = nowMs();
        const failure = await this.openOne(clients[next++]);
        if (failure === null) {
          failed = 0;
          onOpened(nowMs() - begun);
        } else {
          failed++;
          this.example ||= failure.text;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, clients.length) }, open));
  }

  /** @param {Client} client @returns {Promise<Failure | null>} */
  openOne(client) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        client.destroy({ kind: 'timeout', text: `opening took over ${this.timeoutMs / 1000} s${this.other}` });
      }, this.timeoutMs);
      client.open((failure) => {
        clearTimeout(timer);
        resolve(failure);
      });
    });
  }

  /** Count an open client that the server closed. */
  onLost(/** @type {string} */ text) {
    if (!this.closed) {
      this.lost++;
      this.example ||= text;
    }
  }

  /** @type {OnBytes} */
  ignored(data, start, end) {
    if (this.quotes) {
      this.other = `; the last message was ${quoted(data, start, end)}`;
    }
  }

  /** @param {Endpoint} endpoint @param {string} room @param {number} place of the client @returns {Target} */
  target(endpoint, room, place) {
    const { conversation, dialect, server } = this;
    const request = asUser(this.request, place);
    // Without a prefix, open the request's own path.
    const path = conversation.prefix === '' ? request.path : dialect.path(conversation, endpoint, room);
    return { ...server, path, headers: request.headers, ticket: request.ticket };
  }

  /** Return the k-th stream of this process. Its number is unique in the load. */
  stream(/** @type {number} */ k) {
    return 1 + this.index + k * this.processes;
  }

  /** Return the name of a stream's room, or undefined if the stream belongs to another process. */
  roomOf(/** @type {number} */ stream) {
    const k = (stream - 1 - this.index) / this.processes;
    return this.rooms[k % this.rooms.length]?.name;
  }

  /** Return a unique name for a room or client. */
  nextName() {
    return `${this.id}x${this.names++}`;
  }

  nextTurn() {
    return this.turns++;
  }

  /** Return the local address of a client in the pool. */
  addressOf(/** @type {number} */ place) {
    return this.address(Math.floor(place / PORTS));
  }

  /** Return the local address of the next connection outside the pool. */
  nextAddress() {
    return this.address(this.connects++ % ADDRESSES);
  }

  address(/** @type {number} */ k) {
    return k === 0 || !this.hasAddresses ? undefined : `127.0.0.${1 + k}`;
  }

  /** Create a connection for the engine's sends. */
  sender(/** @type {Owner} */ owner) {
    const { does } = this.conversation;
    if (does === 'connect') {
      return new ConnectSender(owner, this);
    }
    if (this.isOpenLoop) {
      return new EchoSender(owner, this, null);
    }
    const own = this.free.pop();
    if (own === undefined) {
      throw new Error(`the conversation '${does}' has no client that can send`);
    }
    return does === 'echo' ? new EchoSender(owner, this, own) : new PublishSender(owner, this, own);
  }

  /** Return the client for the next message in an open loop. Clients take turns, independent of earlier messages. */
  nextEchoing() {
    return this.echoing[this.echoes++ % this.echoing.length];
  }

  /**
   * Start a slice. The traffic of a measured slice is counted from the start of the slice, including the time in which
   * the server settles. The sends by which the traffic is divided are counted from the same time.
   */
  begin(/** @type {Slice} */ { durationMs }) {
    for (const room of this.rooms) {
      room.present = room.members.filter((member) => member.isOpen);
    }
    this.trafficBefore = durationMs > 0 ? { ...this.traffic } : null;
  }

  end() {
    if (this.trafficBefore !== null) {
      this.measuredTraffic.sent += this.traffic.sent - this.trafficBefore.sent;
      this.measuredTraffic.received += this.traffic.received - this.trafficBefore.received;
      this.trafficBefore = null;
    }
  }

  /** @returns {ConnectionCounts} */
  measured() {
    return {
      requested: this.clients.length,
      opened: this.opened,
      refused: this.clients.length - this.opened,
      lost: this.lost,
      opening: this.openingTimes.spread(),
      opened_in_s: this.openedInMs / 1000,
      sent_bytes: this.measuredTraffic.sent,
      received_bytes: this.measuredTraffic.received,
      steps: this.steps,
      reason: this.example || this.other,
    };
  }

  async close() {
    this.closed = true;
    await Promise.all(this.clients.map((client) => client.close()));
  }
}
