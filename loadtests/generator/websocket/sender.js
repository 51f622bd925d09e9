// What the connections that the engine sends on have in common, over WebSockets (see protocol.js).

import { nowMs } from '../clock.js';

/** @import { Exchange } from '../mix.js' */
/** @import { Connection, Owner } from '../protocol.js' */
/** @import { Held } from './held.js' */
/** @import { Failure } from './seats.js' */

const NO_EXCHANGE = /** @type {Exchange} */ (/** @type {unknown} */ (undefined)); // until something is sent

/** One send at a time, its times, and its end. */
export class Sender {
  /**
   * @param {Owner} owner
   * @param {Held} held
   */
  constructor(owner, held) {
    this.owner = owner;
    this.held = held;
    this.exchange = NO_EXCHANGE;
    this.busy = false;
    this.intended = 0;
    this.handedAt = 0;
    this.sentAt = 0;
  }

  /**
   * @param {Exchange} exchange
   * @param {number} intended
   */
  begin(exchange, intended) {
    this.exchange = exchange;
    this.intended = intended;
    this.busy = true;
    this.handedAt = nowMs();
    this.sentAt = 0;
  }

  /** It is on its way now, or a connection for it begins to be opened. */
  wasSent() {
    this.sentAt = nowMs();
    this.owner.onSent(/** @type {Connection} */ (/** @type {unknown} */ (this)), this.sentAt);
  }

  /** @param {number} at */
  succeeded(at) {
    this.busy = false;
    this.owner.onOk(/** @type {Connection} */ (/** @type {unknown} */ (this)), at);
  }

  /** @param {Failure} failure */
  failed({ kind, answered, text }) {
    this.busy = false;
    this.owner.onFailed(/** @type {Connection} */ (/** @type {unknown} */ (this)), nowMs(), kind, answered, text);
  }
}
