// What is held open over WebSockets for the whole of a load, and what becomes of it.

import { nowMs } from '../clock.js';
import { Deliveries } from '../deliveries.js';
import { reading } from '../reading.js';
import { Times } from '../times.js';
import { Payloads } from './payload.js';
import { Receiver, Seat, Speaker } from './seats.js';
import { ConnectSender, EchoSender, PublishSender } from './senders.js';

/** @import { Conversation, HeldOpen, Job, Slice } from '../job.js' */
/** @import { Owner } from '../protocol.js' */
/** @import { Failure } from './seats.js' */
/** @import { Dialect, Parley } from './talk.js' */

// So many are opened at once: as many as wait for a moment to be accepted, and none is refused for that.
const AT_ONCE = 32;
// An address has 28,232 ports for one destination by default, and so many remain for others.
const PORTS = 20_000;
// Connections that are opened one after the other take turns at so many addresses: a port that was used rests a while.
const ADDRESSES = 8;

/**
 * Where a publisher sits: at one connection for each room. Some dialects could do with one for all, but then setups would
 * not hold equally many.
 *
 * @typedef {object} Desk
 * @property {number} place among the publishers
 * @property {Speaker[]} seats by room
 * @property {number[]} numbers by room, the next one of what is measured
 */

let loads = 0;

export class Held {
  /**
   * @param {Job} job
   * @param {Conversation} conversation
   * @param {Dialect} dialect
   */
  constructor(job, conversation, dialect) {
    const { origin, requests, timeoutMs, connections } = job;
    const { hostname, port } = new URL(origin);
    const [{ path, headers }] = requests;
    this.does = conversation.does;
    this.timeoutMs = timeoutMs;
    this.traffic = { sent: 0, received: 0 };
    const host = hostname.replace(/^\[|\]$/g, '');
    const line = { origin, host, port: Number(port || 80), masking: conversation.masking, traffic: this.traffic };
    /** @type {Parley} */
    this.parley = { line, dialect, conversation, path, headers };
    this.hasAddresses = process.platform === 'linux' && host.startsWith('127.');
    this.addressOf = this.addressOf.bind(this);
    this.payloads = new Payloads(conversation.size);
    const speaks = this.does === 'echo' || this.does === 'broadcast';
    this.deliveries = speaks ? new Deliveries((at) => reading.waited(at)) : null;
    /** The connections that speak are used in turn, not as few of them as will do. */
    this.inTurn = speaks;

    // No two loads have the same rooms, and a server may remember those of one before.
    this.own = `${process.pid.toString(36)}x${(loads++).toString(36)}x${Date.now().toString(36)}`;
    this.named = 0; // of the rooms and of the connections that are in none
    this.rooms = Array.from({ length: conversation.rooms }, () => this.nextName());
    /** @type {Receiver[][]} */
    this.receivers = this.rooms.map(() => []); // by room, those that were open when the slice began
    this.receiversNamed = 0;
    /** @type {Seat[]} */
    this.seats = [];
    /** @type {(Desk | Speaker)[]} */
    this.free = []; // on which no sender sits
    this.turns = 0; // of the rooms
    this.connected = 0;
    this.closing = 0; // of those that are not held
    this.takeSeats(connections, conversation.receivers);
    this.stepsWanted = conversation.steps;
    /** @type {number[]} */
    this.steps = []; // how many were open after each
    this.tried = 0;

    this.opened = 0;
    this.lost = 0;
    this.openingTimes = new Times();
    this.openedInMs = 0;
    this.said = '';
    /** @type {{sent: number, received: number} | null} */
    this.before = null; // the traffic, when what is measured began
    this.measuredTraffic = { sent: 0, received: 0 };
    this.closed = false;
  }

  /**
   * @param {number} speakers
   * @param {number} receivers
   */
  takeSeats(speakers, receivers) {
    const { does, rooms, seats } = this;
    if (does === 'echo') {
      for (let k = 0; k < speakers; k++) {
        const seat = new Speaker(this, 'echo', this.nextName(), seats.length);
        seats.push(seat);
        this.free.push(seat);
      }
    } else if (does === 'idle') {
      for (let k = 0; k < receivers; k++) {
        seats.push(new Seat(this, 'echo', this.nextName(), seats.length));
      }
    } else if (does === 'broadcast') {
      for (let k = 0; k < receivers; k++) {
        seats.push(new Receiver(this, rooms[k % rooms.length], seats.length));
      }
      for (let place = 0; place < speakers; place++) {
        const own = rooms.map((room, k) => new Speaker(this, 'publish', room, seats.length + k));
        seats.push(...own);
        this.free.push({ place, seats: own, numbers: rooms.map(() => 0) });
      }
    }
    this.free.reverse();
  }

  /** Opens what is to be held: all of it, or the next part, where that is done in steps. */
  async step() {
    const begun = nowMs();
    const took = this.openedInMs;
    const until = Math.ceil((this.seats.length * (this.steps.length + 1)) / this.stepsWanted);
    await this.openEach(this.seats.slice(this.tried, until), (ms) => {
      this.opened++;
      this.openingTimes.record(ms);
      this.openedInMs = took + nowMs() - begun;
    });
    this.tried = until;
    this.steps.push(this.opened);
    this.assemble();
  }

  /** Opens again what was lost meanwhile; what cannot be opened stays closed, as what was refused from the first. */
  async mend() {
    const lost = this.seats.filter((seat) => seat.wasOpened && !seat.isOpen);
    await this.openEach(lost, () => {});
    this.assemble();
  }

  /** Who will receive what is published. */
  assemble() {
    this.receivers = this.rooms.map(() => []);
    for (const [k, seat] of this.seats.entries()) {
      if (seat instanceof Receiver && seat.isOpen) {
        this.receivers[k % this.rooms.length].push(seat);
      }
    }
  }

  /**
   * Opens some, a few at once. Where that many fail in a row, the rest is not tried.
   *
   * @param {Seat[]} seats
   * @param {(ms: number) => void} onOpened how long it took
   */
  async openEach(seats, onOpened) {
    let next = 0;
    let failed = 0;
    const open = async () => {
      while (next < seats.length && failed < AT_ONCE) {
        const asked = nowMs();
        const failure = await this.openOne(seats[next++]);
        if (failure === null) {
          failed = 0;
          onOpened(nowMs() - asked);
        } else {
          failed++;
          this.said ||= failure.text;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, seats.length) }, open));
  }

  /**
   * @param {Seat} seat
   * @returns {Promise<Failure | null>}
   */
  openOne(seat) {
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        seat.shut();
        resolve({ kind: 'timeout', answered: false, text: `not opened in ${this.timeoutMs / 1000} s` });
      }, this.timeoutMs);
      seat.open((failure) => {
        clearTimeout(late);
        resolve(failure);
      });
    });
  }

  /**
   * The other side ended one that was open.
   *
   * @param {string} text
   */
  wasLost(text) {
    if (!this.closed) {
      this.lost++;
      this.said ||= text;
    }
  }

  /**
   * The address that one of those that are held is opened from.
   *
   * @param {number} place
   */
  addressOf(place) {
    return place < PORTS ? undefined : this.address(Math.floor(place / PORTS));
  }

  /** A name that no other room or connection has. */
  nextName() {
    return `${this.own}x${this.named++}`;
  }

  /** The one that the next connection is opened from that is not held. */
  nextAddress() {
    return this.address(this.connected++ % ADDRESSES);
  }

  /** @param {number} k */
  address(k) {
    return k === 0 || !this.hasAddresses ? undefined : `127.0.0.${1 + k}`;
  }

  /**
   * What the engine sends on.
   *
   * @param {Owner} owner
   */
  sender(owner) {
    if (this.does === 'connect') {
      return new ConnectSender(owner, this);
    }
    const free = this.free.pop();
    if (free === undefined) {
      throw new Error(`nothing can be sent to ${this.does}`);
    }
    return free instanceof Speaker ? new EchoSender(owner, this, free) : new PublishSender(owner, this, free);
  }

  /** @param {Desk | Speaker} free */
  giveBack(free) {
    for (const seat of free instanceof Speaker ? [free] : free.seats) {
      seat.user = null;
    }
    this.free.push(free);
  }

  nextRoom() {
    return this.turns++ % this.rooms.length;
  }

  /**
   * A slice begins. What goes over the wire counts from here on, as do the sends that it is divided by: in a slice that is
   * measured, those while it settles too.
   *
   * @param {Slice} slice
   */
  begin({ durationMs }) {
    this.before = durationMs > 0 ? { ...this.traffic } : null;
  }

  /** The slice is over. */
  end() {
    if (this.before !== null) {
      this.measuredTraffic.sent += this.traffic.sent - this.before.sent;
      this.measuredTraffic.received += this.traffic.received - this.before.received;
      this.before = null;
    }
  }

  /** @returns {HeldOpen} */
  measured() {
    return {
      wanted: this.seats.length,
      opened: this.opened,
      refused: this.seats.length - this.opened,
      lost: this.lost,
      opening: this.openingTimes.spread(),
      opened_in_s: this.openedInMs / 1000,
      sent_bytes: this.measuredTraffic.sent,
      received_bytes: this.measuredTraffic.received,
      steps: this.steps,
      rejoined: null,
      said: this.said,
    };
  }

  async close() {
    this.closed = true;
    await Promise.all(this.seats.map((seat) => seat.close()));
  }
}
