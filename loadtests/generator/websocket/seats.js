// Connections that are held open for the whole of a load: those that idle, those that receive, those that speak.

import { nowMs } from '../clock.js';
import { seen, UNMEASURED } from './payload.js';
import { Talk } from './talk.js';

/** @import { ErrorKind } from '../job.js' */
/** @import { Held } from './held.js' */
/** @import { EchoSender, PublishSender } from './senders.js' */
/** @import { Endpoint } from './talk.js' */

/**
 * Why a connection could not be opened, or is no more.
 *
 * @typedef {object} Failure
 * @property {ErrorKind} kind
 * @property {boolean} answered
 * @property {string} text
 */

/** One that idles: whatever comes, but for pings, is passed over. It can be opened again and again. */
export class Seat {
  /**
   * @param {Held} held
   * @param {Endpoint} endpoint
   * @param {string} room
   * @param {number} place among all that are held
   */
  constructor(held, endpoint, room, place) {
    this.held = held;
    this.endpoint = endpoint;
    this.room = room;
    this.place = place;
    /** @type {Talk | null} */
    this.talk = null;
    /** @type {((failure: Failure | null) => void) | null} */
    this.done = null; // is told what became of its opening
    this.wasOpened = false;
  }

  get isOpen() {
    return this.talk !== null && this.talk.isOpen;
  }

  /** @param {(failure: Failure | null) => void} done */
  open(done) {
    this.done = done;
    const { parley, addressOf } = this.held;
    this.talk = new Talk(parley, this.endpoint, this.room, addressOf(this.place), this);
  }

  /** Closes it now, from this side: it is not lost. */
  shut() {
    this.done = null;
    this.talk?.destroy();
    this.talk = null;
  }

  /** Closes it as one should; resolves when it is closed. */
  async close() {
    const { talk } = this;
    this.done = null;
    this.talk = null;
    await talk?.close();
  }

  /**
   * It was lost.
   *
   * @param {Failure} _failure
   */
  broke(_failure) {}

  // What the talk calls.

  onReady() {
    const { done } = this;
    this.wasOpened = true;
    this.done = null;
    done?.(null);
  }

  /**
   * @param {Buffer} _data
   * @param {number} _start
   * @param {number} _end
   */
  onPayload(_data, _start, _end) {}

  /** @param {boolean} _full */
  onTaken(_full) {}

  /**
   * @param {ErrorKind} kind
   * @param {boolean} answered
   * @param {string} text
   */
  onEnd(kind, answered, text) {
    const { done } = this;
    this.talk = null;
    this.done = null;
    if (done !== null) {
      done({ kind, answered, text });
    } else {
      this.held.wasLost(text);
      this.broke({ kind, answered, text });
    }
  }
}

/** One that receives what is published in its room. One that was lost and is opened again is another receiver. */
export class Receiver extends Seat {
  /**
   * @param {Held} held
   * @param {string} room
   * @param {number} place
   */
  constructor(held, room, place) {
    super(held, 'rooms', room, place);
    this.name = 0; // among the receivers
  }

  onReady() {
    this.name = this.held.receiversNamed++;
    super.onReady();
  }

  /**
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  onPayload(data, start, end) {
    const { payloads, deliveries, rooms } = this.held;
    if (deliveries === null || !payloads.recognise(data, start, end)) {
      return;
    }
    const at = nowMs();
    if (seen.stream === UNMEASURED) {
      deliveries.came(at);
    } else if ((seen.stream - 1) % rooms.length === this.place % rooms.length) {
      deliveries.arrived(this.name, seen.stream, seen.number, at);
    } else {
      deliveries.stray++; // it was published in another room
    }
  }

  broke() {
    this.held.deliveries?.gone(this.name);
  }
}

/** One on which messages are sent, that are to come back or to be published. */
export class Speaker extends Seat {
  /**
   * @param {Held} held
   * @param {'echo' | 'publish'} endpoint
   * @param {string} room
   * @param {number} place
   */
  constructor(held, endpoint, room, place) {
    super(held, endpoint, room, place);
    this.stream = place + 1; // of what is sent on it to come back
    this.numbers = 0; // of those that were given to what is measured
    this.unmeasured = 0;
    /** @type {EchoSender | PublishSender | null} */
    this.user = null;
  }

  /**
   * @param {Buffer} data
   * @param {number} start
   * @param {number} end
   */
  onPayload(data, start, end) {
    const at = nowMs();
    const { payloads, deliveries } = this.held;
    const whole = payloads.recognise(data, start, end);
    if (whole && seen.stream === UNMEASURED) {
      deliveries?.came(at);
    } else if (whole) {
      deliveries?.arrived(this.place, seen.stream, seen.number, at);
    }
    this.user?.echoed(whole, at);
  }

  /** @param {boolean} full */
  onTaken(full) {
    this.user?.taken(full);
  }

  /** @param {Failure} failure */
  broke(failure) {
    this.user?.broke(this, failure);
  }
}
