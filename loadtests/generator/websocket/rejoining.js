// Connections that come back by themselves when the server was restarted, and what they missed meanwhile.

import { nowMs } from '../clock.js';
import { Deliveries } from '../deliveries.js';
import { uniforms } from '../schedule.js';
import { Times } from '../times.js';
import { Held } from './held.js';
import { seen } from './payload.js';
import { Seat } from './seats.js';

/** @import { Conversation, HeldOpen, Job, Slice } from '../job.js' */
/** @import { Failure } from './seats.js' */
/** @import { Dialect, Endpoint } from './talk.js' */

const STREAM = 1; // of all that is published
// Once all are back, messages go on for a while, to see that they come, and those that are under way get as long again.
const GOES_ON_MS = 500;
const LAST_WORD_MS = 1000;

/** One that comes back when it is lost. */
class Comer extends Seat {
  /**
   * @param {RejoinHeld} held
   * @param {Endpoint} endpoint
   * @param {number} place
   */
  constructor(held, endpoint, place) {
    super(held, endpoint, held.rooms[0], place);
    this.rejoining = held;
    this.lostAt = NaN; // for the first time
    this.backAt = NaN; // for the last time
    this.why = ''; // it could not come back when it tried last
  }

  /** Whether it was lost and is back. */
  get isBack() {
    return !Number.isNaN(this.lostAt) && this.isOpen;
  }

  /**
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  onPayload(data, start, end) {
    const at = nowMs();
    if (this.held.payloads.recognise(data, start, end) && seen.stream === STREAM) {
      this.rejoining.news.arrived(this.place, STREAM, seen.number, at);
    }
  }

  /** @param {boolean} full */
  onTaken(full) {
    this.rejoining.wasTaken(full);
  }

  /** @param {Failure} failure */
  broke(failure) {
    this.why = failure.text;
    this.rejoining.comesBack(this);
  }
}

/**
 * Receivers in one room, and a publisher. Each that is lost tries to come back after a random part of the jitter, and again
 * so after each attempt that failed. The publisher is a client as they are: what is due while it is away is not sent.
 *
 * Each message is meant for every receiver that was ever there, whether it is there just now or not. The slice is over
 * when all have been lost and are back.
 */
export class RejoinHeld extends Held {
  /**
   * @param {Job} job
   * @param {Conversation} conversation
   * @param {Dialect} dialect
   */
  constructor(job, conversation, dialect) {
    super(job, conversation, dialect);
    this.jitterMs = 1000 * conversation.jitter_s;
    this.gapMs = 1000 / conversation.publishes_per_s;
    this.chance = uniforms(0);
    this.news = new Deliveries();
    this.receiving = Array.from({ length: conversation.receivers }, (_, k) => new Comer(this, 'rooms', k));
    this.publisher = new Comer(this, 'publish', conversation.receivers);
    this.seats.push(...this.receiving, this.publisher);
    this.numbers = 0;
    this.published = 0;
    this.unsent = 0;
    /** @type {number[]} */
    this.untold = []; // what was published, and nobody has said yet whether it was taken
    this.dueMs = Infinity; // the next message
    this.lastDueMs = Infinity;
    this.allBackAt = NaN;
    this.ended = true;
    this.found = this.whatBecame();
  }

  /** Those that were there when it began. */
  get comers() {
    return this.seats.filter((seat) => seat instanceof Comer && seat.wasOpened).map((seat) => /** @type {Comer} */ (seat));
  }

  /** @param {Slice} slice */
  begin(slice) {
    super.begin(slice);
    this.chance = uniforms(slice.arrivalSeed ?? 0);
    this.dueMs = slice.start;
    this.lastDueMs = slice.start + slice.settleMs + slice.durationMs - LAST_WORD_MS;
    this.ended = false;
    for (const comer of this.comers) {
      comer.lostAt = comer.backAt = NaN;
      if (!comer.isOpen) {
        this.comesBack(comer);
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

  /** @param {number} due */
  send(due) {
    const number = this.numbers++;
    this.published++;
    this.publisher.talk?.send(this.payloads.write(STREAM, number), this.publisher.room);
    this.untold.push(number);
    for (const receiver of this.receiving) {
      if (receiver.wasOpened) {
        this.news.expect(receiver.place, STREAM, number, due);
      }
    }
  }

  /**
   * The server has answered the oldest message that it had not; where the layer was full, that is meant for nobody.
   *
   * @param {boolean} full
   */
  wasTaken(full) {
    const number = this.untold.shift();
    if (full && number !== undefined) {
      this.unsent++;
      this.published--;
      this.receiving.forEach((receiver) => this.news.withdraw(receiver.place, STREAM, number));
    }
  }

  /** To be lost is what they are there for: see `measured`. */
  wasLost() {}

  /** @param {Comer} comer */
  comesBack(comer) {
    if (Number.isNaN(comer.lostAt)) {
      comer.lostAt = nowMs();
    }
    if (comer === this.publisher) {
      this.untold = []; // of these nobody will say anything
    }
    setTimeout(() => this.tries(comer), this.chance() * this.jitterMs);
  }

  /** @param {Comer} comer */
  async tries(comer) {
    if (this.ended) {
      return;
    }
    const failure = await this.openOne(comer);
    if (failure === null) {
      comer.backAt = nowMs();
    } else {
      comer.broke(failure);
    }
  }

  /**
   * Whether all have been away and are back, and have got what was under way.
   *
   * @param {number} now
   */
  isOver(now) {
    if (!this.comers.every((comer) => comer.isBack)) {
      this.allBackAt = NaN;
      return false;
    }
    if (Number.isNaN(this.allBackAt)) {
      this.allBackAt = now;
      this.lastDueMs = Math.min(this.lastDueMs, now + GOES_ON_MS);
    }
    return now >= this.allBackAt + GOES_ON_MS + LAST_WORD_MS;
  }

  end() {
    super.end();
    this.ended = true;
    this.found = this.whatBecame();
  }

  whatBecame() {
    const lost = this.receiving.filter((comer) => !Number.isNaN(comer.lostAt));
    const back = lost.filter((comer) => comer.isBack);
    const away = new Times();
    back.forEach((comer) => away.record(comer.backAt - comer.lostAt));
    const firstLost = Math.min(...lost.map((comer) => comer.lostAt));
    const backAt = back.map((comer) => comer.backAt);
    const allBack = back.length === lost.length && back.length > 0;
    const gone = this.comers.filter((comer) => !comer.isOpen);
    return {
      gone: gone.length,
      said: gone.find((comer) => comer.why !== '')?.why ?? '',
      rejoined: {
        lost: lost.length,
        back: back.length,
        down_s: back.length > 0 ? (Math.min(...backAt) - firstLost) / 1000 : null,
        all_back_s: allBack ? (Math.max(...backAt) - firstLost) / 1000 : null,
        published: this.published,
        unsent: this.unsent,
        expected: this.news.expected,
        missed: this.news.missing,
        away: away.spread(),
      },
    };
  }

  /** @returns {HeldOpen} */
  measured() {
    const { gone, said, rejoined } = this.found;
    const held = super.measured();
    return { ...held, lost: gone, said: held.said || said, rejoined };
  }
}
