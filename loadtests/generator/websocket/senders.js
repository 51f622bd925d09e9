// The connections that the engine sends on (see protocol.js): what a send is, over WebSockets.

import { nowMs } from '../clock.js';
import { seen, UNMEASURED } from './payload.js';
import { Sender } from './sender.js';
import { Talk } from './talk.js';

/** @import { ErrorKind } from '../job.js' */
/** @import { Exchange } from '../mix.js' */
/** @import { Connection, Owner } from '../protocol.js' */
/** @import { Desk, Held } from './held.js' */
/** @import { Failure, Receiver, Speaker } from './seats.js' */

/**
 * Each send is a new connection, which is closed when it is ready.
 *
 * @implements {Connection}
 */
export class ConnectSender extends Sender {
  /**
   * @param {Owner} owner
   * @param {Held} held
   */
  constructor(owner, held) {
    super(owner, held);
    /** @type {Talk | null} */
    this.talk = null;
  }

  /**
   * @param {Exchange} exchange
   * @param {number} intended
   */
  send(exchange, intended) {
    this.begin(exchange, intended);
    this.wasSent();
    this.talk = new Talk(this.held.parley, 'echo', this.held.nextName(), this.held.nextAddress(), this);
  }

  destroy() {
    this.busy = false;
    this.talk?.destroy();
    this.talk = null;
  }

  onReady() {
    const at = nowMs();
    this.close();
    this.succeeded(at);
  }

  /** Closes it as one should, which is a part of what the slice takes. */
  async close() {
    const { held, talk } = this;
    this.talk = null;
    held.closing++;
    await talk?.close();
    held.closing--;
  }

  /**
   * @param {ErrorKind} kind
   * @param {boolean} answered
   * @param {string} text
   */
  onEnd(kind, answered, text) {
    this.talk = null;
    this.failed({ kind, answered, text });
  }

  onPayload() {}

  onTaken() {}
}

/**
 * Each send is a message that must come back, on a connection that is held. One that was lost is opened again for it.
 *
 * @implements {Connection}
 */
export class EchoSender extends Sender {
  /**
   * @param {Owner} owner
   * @param {Held} held
   * @param {Speaker} seat
   */
  constructor(owner, held, seat) {
    super(owner, held);
    this.seat = seat;
    seat.user = this;
    this.stream = -1; // of what is awaited
    this.number = -1;
  }

  /**
   * @param {Exchange} exchange
   * @param {number} intended
   */
  send(exchange, intended) {
    this.begin(exchange, intended);
    this.stream = -1;
    if (this.seat.isOpen) {
      this.transmit();
    } else {
      this.wasSent();
      this.seat.open((failure) => (failure === null ? this.transmit() : this.failed(failure)));
    }
  }

  transmit() {
    if (this.sentAt === 0) {
      this.wasSent();
    }
    const { held, seat } = this;
    const measured = this.owner.counts(this.intended);
    this.stream = measured ? seat.stream : UNMEASURED;
    this.number = measured ? seat.numbers++ : seat.unmeasured++;
    seat.talk?.send(held.payloads.write(this.stream, this.number), '');
    if (measured) {
      held.deliveries?.expect(seat.place, this.stream, this.number, this.intended);
    }
  }

  /** Gives up what was sent; what comes back of it later is a delivery none the less. */
  destroy() {
    this.busy = false;
    if (!this.seat.isOpen) {
      this.seat.shut();
    }
    this.held.giveBack(this.seat);
  }

  /**
   * A message has come: that of which `seen` tells, where it is `whole`.
   *
   * @param {boolean} whole
   * @param {number} at
   */
  echoed(whole, at) {
    if (!this.busy || this.stream < 0) {
      return;
    }
    if (!whole) {
      this.failed({ kind: 'wrong-body', answered: true, text: 'what came back is not what was sent' });
    } else if (seen.stream === this.stream && seen.number === this.number) {
      this.succeeded(at);
    }
  }

  taken() {}

  /**
   * @param {Speaker} _seat
   * @param {Failure} failure
   */
  broke(_seat, failure) {
    if (this.busy) {
      this.failed(failure);
    }
  }
}

/**
 * Each send is published in the room whose turn it is. The message is meant for all who receive there, unless the server
 * says that it has not taken it: then those are no deliveries that do not come. Of one that it says nothing of they are.
 *
 * @implements {Connection}
 */
export class PublishSender extends Sender {
  /**
   * @param {Owner} owner
   * @param {Held} held
   * @param {Desk} desk
   */
  constructor(owner, held, desk) {
    super(owner, held);
    this.desk = desk;
    for (const seat of desk.seats) {
      seat.user = this;
    }
    this.seat = desk.seats[0];
    this.room = 0;
    /** @type {Receiver[]} */
    this.receivers = []; // whom the message is meant for
    this.number = -1;
  }

  /**
   * @param {Exchange} exchange
   * @param {number} intended
   */
  send(exchange, intended) {
    this.begin(exchange, intended);
    this.receivers = [];
    this.number = -1;
    this.room = this.held.nextRoom();
    this.seat = this.desk.seats[this.room];
    if (this.seat.isOpen) {
      this.transmit();
    } else {
      this.wasSent();
      this.seat.open((failure) => (failure === null ? this.transmit() : this.failed(failure)));
    }
  }

  /** What it publishes in the room is a stream of its own. */
  get stream() {
    return this.desk.place * this.held.rooms.length + this.room + 1;
  }

  transmit() {
    if (this.sentAt === 0) {
      this.wasSent();
    }
    const { desk, held, room, seat, stream } = this;
    const measured = this.owner.counts(this.intended);
    if (!measured) {
      seat.talk?.send(held.payloads.write(UNMEASURED, seat.unmeasured++), held.rooms[room]);
      return;
    }
    const number = desk.numbers[room]++;
    seat.talk?.send(held.payloads.write(stream, number), held.rooms[room]);
    this.number = number;
    this.receivers = held.receivers[room];
    if (this.receivers.length > 0) {
      held.deliveries?.lasts.meant(stream, number, this.intended, this.receivers.length);
    }
    for (const receiver of this.receivers) {
      held.deliveries?.expect(receiver.name, stream, number, this.intended);
    }
  }

  /** Gives up what was sent, and the connection: an answer that comes later would be taken for that to the next. */
  destroy() {
    if (this.busy) {
      this.seat.shut();
    }
    this.busy = false;
    this.held.giveBack(this.desk);
  }

  withdraw() {
    this.held.deliveries?.lasts.withdraw(this.stream, this.number);
    for (const receiver of this.receivers) {
      this.held.deliveries?.withdraw(receiver.name, this.stream, this.number);
    }
    this.receivers = [];
  }

  echoed() {}

  /** @param {boolean} full */
  taken(full) {
    if (!this.busy) {
      return;
    }
    if (full) {
      this.withdraw();
      this.failed({ kind: 'status', answered: true, text: 'full: the layer did not take it' });
    } else {
      this.succeeded(nowMs());
    }
  }

  /**
   * @param {Speaker} seat
   * @param {Failure} failure
   */
  broke(seat, failure) {
    if (this.busy && seat === this.seat) {
      this.failed(failure);
    }
  }
}
