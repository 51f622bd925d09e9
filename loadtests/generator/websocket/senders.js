// The connections that the engine sends on, over WebSockets.

import { nowMs } from '../clock.js';
import { Client } from './client.js';
import { lastRead, UNMEASURED } from './payload.js';

/** @import { Exchange } from '../recorder.js' */
/** @import { Connection, Failure, Owner } from '../types.ts' */
/** @import { ReceivingClient, SendingClient } from './client.js' */
/** @import { Pool } from './pool.js' */

class Sender {
  exchange = /** @type {Exchange} */ (/** @type {unknown} */ (undefined)); // until something is sent
  busy = false;
  intended = 0;
  handedAt = 0;
  sentAt = 0;

  /** @param {Owner} owner @param {Pool} pool */
  constructor(owner, pool) {
    this.owner = owner;
    this.pool = pool;
  }

  /** @type {Connection['send']} */
  send(exchange, intended) {
    this.exchange = exchange;
    this.intended = intended;
    this.busy = true;
    this.handedAt = nowMs();
    this.sentAt = 0;
  }

  destroy() {
    this.busy = false;
  }

  /** It is on its way now, or a connection for it begins to be opened. */
  wasSent() {
    this.sentAt = nowMs();
    this.owner.onSent(this, this.sentAt);
  }

  succeeded(/** @type {number} */ at) {
    this.busy = false;
    this.owner.onOk(this, at);
  }

  failed(/** @type {Failure} */ failure) {
    this.busy = false;
    this.owner.onFailed(this, nowMs(), failure);
  }
}

/** Each send is a new connection, which is closed when it is ready. */
export class ConnectSender extends Sender {
  /** @type {Client | null} */
  client = null;

  /** @type {Connection['send']} */
  send(exchange, intended) {
    super.send(exchange, intended);
    this.wasSent();
    const client = new Client(this.pool, 'echo', this.pool.nextName(), 0);
    this.client = client;
    client.open((failure) => {
      this.client = null;
      if (failure === null) {
        const at = nowMs();
        this.close(client);
        this.succeeded(at);
      } else {
        this.failed(failure);
      }
    }, this.pool.nextAddress());
  }

  /** Closes it properly, which is a part of what the slice takes. */
  async close(/** @type {Client} */ client) {
    this.pool.closing++;
    await client.close();
    this.pool.closing--;
  }

  destroy() {
    super.destroy();
    this.client?.destroy();
    this.client = null;
  }
}

/** Each send is a message, on a client of the pool. One that was lost is opened again for it. */
export class MessageSender extends Sender {
  stream = -1; // of the message that was sent last
  number = -1;

  /**
   * @param {Owner} owner
   * @param {Pool} pool
   * @param {SendingClient[]} clients one for each room
   */
  constructor(owner, pool, clients) {
    super(owner, pool);
    this.clients = clients;
    this.client = clients[0];
    for (const client of clients) {
      client.user = this;
    }
  }

  /** @type {Connection['send']} */
  send(exchange, intended) {
    super.send(exchange, intended);
    this.stream = -1;
    if (this.client.isOpen) {
      this.transmit();
    } else {
      this.wasSent();
      this.client.open((failure) => (failure === null ? this.transmit() : this.failed(failure)));
    }
  }

  transmit() {
    if (this.sentAt === 0) {
      this.wasSent();
    }
    const { client, intended } = this;
    const measured = this.owner.counts(intended);
    this.stream = measured ? client.stream : UNMEASURED;
    this.number = measured ? client.numbers++ : client.unmeasured++;
    client.send(this.pool.payloads.write(this.stream, this.number));
    if (measured) {
      this.expect();
    }
  }

  /** Who is to receive the message. */
  expect() {}

  onEcho(/** @type {boolean} */ _whole, /** @type {number} */ _at) {}

  onAcknowledged(/** @type {boolean} */ _full) {}

  onLost(/** @type {SendingClient} */ client, /** @type {Failure} */ failure) {
    if (this.busy && client === this.client) {
      this.failed(failure);
    }
  }
}

/** Each send is a message that must come back. */
export class EchoSender extends MessageSender {
  expect() {
    this.pool.deliveries?.expect(this.client.place, this.stream, this.number, this.intended);
  }

  /** Gives up what was sent; what comes back of it later is a delivery none the less. */
  destroy() {
    super.destroy();
    if (!this.client.isOpen) {
      this.client.destroy();
    }
    this.pool.release(this.clients);
  }

  /** A message has come: that of `lastRead`, where it is `whole`. */
  onEcho(/** @type {boolean} */ whole, /** @type {number} */ at) {
    if (!this.busy || this.stream < 0) {
      return;
    }
    if (!whole) {
      this.failed({ kind: 'wrong-body', answered: true, text: 'what came back is not what was sent' });
    } else if (lastRead.stream === this.stream && lastRead.number === this.number) {
      this.succeeded(at);
    }
  }
}

/**
 * Each send is published in the next room. The message is meant for all who receive there, unless the server answers that
 * it has not taken it; where it answers nothing, it is.
 */
export class PublishSender extends MessageSender {
  /** @type {ReceivingClient[]} */
  receivers = []; // of the message

  /** @type {Connection['send']} */
  send(exchange, intended) {
    const room = this.pool.nextRoom();
    this.client = this.clients[room];
    this.receivers = this.pool.receivers[room];
    super.send(exchange, intended);
  }

  expect() {
    const { stream, number, intended, receivers } = this;
    if (receivers.length > 0) {
      this.pool.deliveries?.lastReceivers.expect(stream, number, intended, receivers.length);
    }
    for (const receiver of receivers) {
      this.pool.deliveries?.expect(receiver.name, stream, number, intended);
    }
  }

  /** Gives up what was sent, and the connection: a late answer would be taken for that to the next message. */
  destroy() {
    if (this.busy) {
      this.client.destroy();
    }
    super.destroy();
    this.pool.release(this.clients);
  }

  onAcknowledged(/** @type {boolean} */ full) {
    if (this.busy && full) {
      this.withdraw();
      this.failed({ kind: 'status', answered: true, text: 'full: the layer did not take it' });
    } else if (this.busy) {
      this.succeeded(nowMs());
    }
  }

  withdraw() {
    if (this.stream <= UNMEASURED) {
      return;
    }
    this.pool.deliveries?.lastReceivers.withdraw(this.stream, this.number);
    for (const receiver of this.receivers) {
      this.pool.deliveries?.withdraw(receiver.name, this.stream, this.number);
    }
  }
}
