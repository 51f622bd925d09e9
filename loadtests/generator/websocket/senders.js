// Send the engine's messages on WebSockets.

import { nowMs } from '../clock.js';
import { Client } from './client.js';

/** @import { Exchange } from '../recorder.js' */
/** @import { Connection, Failure, Owner } from '../types.ts' */
/** @import { EchoClient, PublishingClient } from './clients.js' */
/** @import { Pool } from './pool.js' */

class Sender {
  exchange = /** @type {Exchange} */ (/** @type {unknown} */ (undefined));  // undefined until the first send
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

  /** Report to the owner that the message is sent, or that its connection starts to open. */
  wasSent() {
    this.sentAt = nowMs();
    this.owner.onSent(this, this.sentAt);
  }

  succeeded(/** @type {number} */ at) {
    this.busy = false;
    this.owner.onOk(this, at);
  }

  failed(/** @type {Failure} */ failure) {
    if (this.busy) {  // if the send was given up earlier, the owner has already recorded it
      this.busy = false;
      this.owner.onFailed(this, nowMs(), failure);
    }
  }
}

/** Open a connection for each send, and close the connection as soon as it is ready. */
export class ConnectSender extends Sender {
  /** @type {Client | null} */
  client = null;

  /** @type {Connection['send']} */
  send(exchange, intended) {
    super.send(exchange, intended);
    this.wasSent();
    const client = new Client(this.pool, 'echo', this.pool.nextName(), this.pool.connects);
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

  /** Close a client with a close frame. The slice doesn't end before the client is closed. */
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

/** At each scheduled time, send a message on a client of the pool. A lost client is reopened. */
class MessageSender extends Sender {
  /** @type {EchoClient | PublishingClient | null} */
  client = null;

  /** @type {Connection['send']} */
  send(exchange, intended) {
    super.send(exchange, intended);
    this.wasSent();
    const client = /** @type {Client} */ (this.client);
    if (client.isOpen) {
      this.transmit();
    } else {
      this.pool.openOne(client).then((failure) => {
        if (failure !== null) {
          this.failed(failure);
        } else if (this.busy) {
          this.transmit();
        }
      });
    }
  }

  /** Send the message on the open client. */
  transmit() {}
}

/**
 * Send messages that the server must send back. In a closed loop, the sender always uses its own client. In an open
 * loop, each send uses the next client of the pool.
 */
export class EchoSender extends MessageSender {
  /** @type {EchoClient | null} */
  client = null;
  number = 0; // of the message
  isUnderWay = false;

  /** @param {Owner} owner @param {Pool} pool @param {EchoClient | null} own */
  constructor(owner, pool, own) {
    super(owner, pool);
    this.own = own;
  }

  /** @type {Connection['send']} */
  send(exchange, intended) {
    this.client = this.own ?? this.pool.nextEchoing();
    super.send(exchange, intended);
  }

  transmit() {
    const { intended } = this;
    const client = /** @type {EchoClient} */ (this.client);
    const measured = this.owner.counts(intended);
    this.isUnderWay = true;
    this.number = client.sendNext(this, measured);
    if (measured) {
      this.pool.deliveries?.expect([client], client.stream, this.number, intended);
    }
  }

  /** Give up the sent message. If it comes back later, it still counts as a delivery. */
  destroy() {
    super.destroy();
    this.noLongerUnderWay();
    if (this.own !== null) {
      this.pool.free.push(this.own);
    }
  }

  succeeded(/** @type {number} */ at) {
    this.noLongerUnderWay();
    super.succeeded(at);
  }

  failed(/** @type {Failure} */ failure) {
    this.noLongerUnderWay();
    super.failed(failure);
  }

  wasWrong() {
    this.failed({ kind: 'wrong-body', answered: true, text: 'the echo differs from the sent message' });
  }

  noLongerUnderWay() {
    if (this.isUnderWay) {
      this.isUnderWay = false;
      this.client?.underWay.delete(this.number);
    }
  }
}

/**
 * For each send, publish a message in the next room. All receivers in the room must receive the message. Only one
 * message is sent at a time, because an answer doesn't identify its message.
 */
export class PublishSender extends MessageSender {
  /** @type {PublishingClient} */
  client;

  /** @param {Owner} owner @param {Pool} pool @param {PublishingClient[]} clients one client for each room */
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
    this.client = this.clients[this.pool.nextTurn() % this.clients.length];
    super.send(exchange, intended);
  }

  transmit() {
    const { client, intended } = this;
    const measured = this.owner.counts(intended);
    const number = client.sendNext(measured);
    if (measured) {
      this.pool.deliveries?.expect(client.audience.present, client.stream, number, intended);
    }
  }

  /**
   * Give up the sent message and the connection, because a late answer would be taken for the next message's answer.
   */
  destroy() {
    if (this.busy) {
      super.destroy();
      this.client.destroy();
    }
    for (const client of this.clients) {
      client.user = null;
    }
    this.pool.free.push(this.clients);
  }

  onAcknowledged() {
    if (this.busy) {
      this.succeeded(nowMs());
    }
  }

  onLost(/** @type {PublishingClient} */ client, /** @type {Failure} */ failure) {
    if (client === this.client) {
      this.failed(failure);
    }
  }
}
