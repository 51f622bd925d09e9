// Clients that come back by themselves when the server was restarted, and what they missed meanwhile.

import { nowMs } from '../clock.js';
import { Deliveries } from '../deliveries.js';
import { uniforms } from '../schedule.js';
import { Times } from '../times.js';
import { Client } from './client.js';
import { lastRead } from './payload.js';
import { Pool } from './pool.js';

/** @import { ConnectionCounts, Conversation, Dialect, Endpoint, Failure, Job, OnBytes, Slice } from '../types.ts' */

const STREAM = 1; // of all that is published
// Once all are back, messages go on for a while, to see that they come, and those that are under way get as long again.
const GOES_ON_MS = 500;
const LAST_ARRIVAL_MS = 1000;

class RejoiningClient extends Client {
  lostAt = NaN; // for the first time
  backAt = NaN; // for the last time
  failure = ''; // of its last attempt

  /** @param {RejoiningPool} pool @param {Endpoint} endpoint @param {number} place */
  constructor(pool, endpoint, place) {
    super(pool, endpoint, pool.rooms.names[0], place);
    this.rejoining = pool;
  }

  get wasLost() {
    return !Number.isNaN(this.lostAt);
  }

  get isBack() {
    return this.wasLost && this.isOpen;
  }

  /** @type {OnBytes} */
  onPayload(data, start, end) {
    const at = nowMs();
    if (this.pool.payloads.recognise(data, start, end) && lastRead.isOurs && lastRead.isWhole) {
      this.rejoining.messages.arrived(this.place, STREAM, lastRead.number, at);
    }
  }

  onAcknowledged(/** @type {boolean} */ full) {
    this.rejoining.onAcknowledged(full);
  }

  onLost(/** @type {Failure} */ failure) {
    this.failure = failure.text;
    this.rejoining.comeBack(this);
  }
}

/**
 * Receivers in one room, and a publisher. Each that is lost tries to come back after a random part of the jitter, and again
 * so after each attempt that failed. The publisher is a client as they are: what is due while it is away is not sent.
 *
 * Each message is meant for every receiver that was ever open, also for those that are away. The slice is over when all
 * have been lost and are back.
 */
export class RejoiningPool extends Pool {
  chance = uniforms(0);
  messages = new Deliveries();
  numbers = 0;
  published = 0;
  unsent = 0;
  /** @type {number[]} */
  unacknowledged = [];
  dueMs = Infinity; // the next message
  lastDueMs = Infinity;
  allBackAt = NaN;
  ended = true;

  /** @param {Job} job @param {Conversation} conversation @param {Dialect} dialect */
  constructor(job, conversation, dialect) {
    super(job, conversation, dialect);
    const { jitter_s, publishes_per_s, receivers } = conversation;
    this.jitterMs = 1000 * jitter_s;
    this.gapMs = 1000 / publishes_per_s;
    this.receiving = Array.from({ length: receivers }, (_, k) => new RejoiningClient(this, 'rooms', k));
    this.publisher = new RejoiningClient(this, 'publish', receivers);
    this.rejoiners = [...this.receiving, this.publisher];
    this.clients.push(...this.rejoiners);
    this.outcome = this.currentOutcome();
  }

  /** Those that were open when it began. */
  get joined() {
    return this.rejoiners.filter((client) => client.wasOpened);
  }

  begin(/** @type {Slice} */ slice) {
    super.begin(slice);
    this.chance = uniforms(slice.arrivalSeed ?? 0);
    this.dueMs = slice.start;
    this.lastDueMs = slice.start + slice.settleMs + slice.durationMs - LAST_ARRIVAL_MS;
    this.ended = false;
    for (const client of this.joined) {
      client.lostAt = client.backAt = NaN;
      if (!client.isOpen) {
        this.comeBack(client);
      }
    }
    this.publish();
  }

  /** Sends what is due. */
  publish() {
    if (this.ended) {
      return;
    }
    const now = nowMs();
    for (; this.dueMs <= now && this.dueMs < this.lastDueMs; this.dueMs += this.gapMs) {
      if (this.publisher.isOpen) {
        this.send(this.dueMs);
      } else {
        this.unsent++;
      }
    }
    if (this.dueMs < this.lastDueMs) {
      setTimeout(() => this.publish(), Math.max(0, this.dueMs - now));
    }
  }

  send(/** @type {number} */ due) {
    const number = this.numbers++;
    this.published++;
    this.publisher.send(this.payloads.write(STREAM, number));
    this.unacknowledged.push(number);
    for (const receiver of this.receiving) {
      if (receiver.wasOpened) {
        this.messages.expect(receiver.place, STREAM, number, due);
      }
    }
  }

  /** The server has answered the oldest unanswered message; where the layer was full, that is meant for nobody. */
  onAcknowledged(/** @type {boolean} */ full) {
    const number = this.unacknowledged.shift();
    if (full && number !== undefined) {
      this.unsent++;
      this.published--;
      this.receiving.forEach((receiver) => this.messages.withdraw(receiver.place, STREAM, number));
    }
  }

  /** To be lost is what they are there for: see `measured`. */
  onLost() {}

  comeBack(/** @type {RejoiningClient} */ client) {
    if (!client.wasLost) {
      client.lostAt = nowMs();
    }
    if (client === this.publisher) {
      this.unacknowledged = []; // these will not be answered
    }
    setTimeout(() => this.tryAgain(client), this.chance() * this.jitterMs);
  }

  async tryAgain(/** @type {RejoiningClient} */ client) {
    if (this.ended) {
      return;
    }
    const failure = await this.openOne(client);
    if (failure === null) {
      client.backAt = nowMs();
    } else {
      client.onLost(failure);
    }
  }

  /** Whether all have been away and are back, and what was under way has had its time. */
  isOver(/** @type {number} */ now) {
    if (!this.joined.every((client) => client.isBack)) {
      this.allBackAt = NaN;
      return false;
    }
    if (Number.isNaN(this.allBackAt)) {
      this.allBackAt = now;
      this.lastDueMs = Math.min(this.lastDueMs, now + GOES_ON_MS);
    }
    return now >= this.allBackAt + GOES_ON_MS + LAST_ARRIVAL_MS;
  }

  end() {
    super.end();
    this.ended = true;
    this.outcome = this.currentOutcome();
  }

  currentOutcome() {
    const lost = this.receiving.filter((client) => client.wasLost);
    const back = lost.filter((client) => client.isBack);
    const away = new Times();
    back.forEach((client) => away.record(client.backAt - client.lostAt));
    const firstLost = Math.min(...lost.map((client) => client.lostAt));
    const backAt = back.map((client) => client.backAt);
    const allBack = back.length === lost.length && back.length > 0;
    const gone = this.joined.filter((client) => !client.isOpen);
    return {
      lost: gone.length,
      example: gone.find((client) => client.failure !== '')?.failure ?? '',
      rejoined: {
        lost: lost.length,
        back: back.length,
        down_s: back.length > 0 ? (Math.min(...backAt) - firstLost) / 1000 : null,
        all_back_s: allBack ? (Math.max(...backAt) - firstLost) / 1000 : null,
        published: this.published,
        unsent: this.unsent,
        expected: this.messages.expected,
        missed: this.messages.missing,
        away: away.spread(),
      },
    };
  }

  /** @returns {ConnectionCounts} */
  measured() {
    const { example, ...outcome } = this.outcome;
    const counts = super.measured();
    return { ...counts, ...outcome, reason: counts.reason || example };
  }
}
