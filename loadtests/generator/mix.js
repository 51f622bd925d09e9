// Which request each send is for.

import { Tally } from './recorder.js';

/** @import { Job } from './job.js' */
/** @import { Protocol } from './protocol.js' */

/** One of the requests of a load, as its protocol sends it, and what became of it. */
export class Exchange {
  constructor() {
    this.tally = new Tally();
  }
}

/** The requests of a load in their order, which is gone through again and again. */
export class Mix {
  /**
   * @param {Protocol} protocol
   * @param {Job} job
   */
  constructor(protocol, job) {
    this.exchanges = job.requests.map((asked) => protocol.exchange(asked, job));
    this.order = new Uint16Array(Uint8Array.from(Buffer.from(job.order, 'base64')).buffer);
  }

  /**
   * What a send is for.
   *
   * @param {number} place in the order of the whole load, of all processes together
   * @returns {Exchange}
   */
  at(place) {
    return this.exchanges[this.order[place % this.order.length]];
  }
}
