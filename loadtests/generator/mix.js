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

/** The requests of a load in their order, of which a process takes those at `index`, `index + of`, `index + 2 of`, ... */
export class Mix {
  /**
   * @param {Protocol} protocol
   * @param {Job} job
   */
  constructor(protocol, job) {
    this.exchanges = job.requests.map((asked) => protocol.exchange(asked, job));
    this.order = new Uint16Array(Uint8Array.from(Buffer.from(job.order, 'base64')).buffer);
    this.index = job.index;
    this.of = job.of;
  }

  /**
   * What the i-th send of this process is for.
   *
   * @param {number} i
   * @returns {Exchange}
   */
  at(i) {
    return this.exchanges[this.which(i)];
  }

  which(/** @type {number} */ i) {
    return this.order[(this.index + i * this.of) % this.order.length];
  }

  /**
   * How many of the first `count` sends of this process are for each request.
   *
   * @param {number} count
   * @returns {number[]}
   */
  among(count) {
    const counts = this.exchanges.map(() => 0);
    for (let i = 0; i < count; i++) {
      counts[this.which(i)]++;
    }
    return counts;
  }
}
