// Which request each send is for.

import { Tally } from './recorder.js';

/** @import { Asked, Job } from './job.js' */

/** One of the requests of a load: what is sent, what is expected, and what became of it. */
export class Exchange {
  /**
   * @param {Asked} asked
   * @param {boolean} keepAlive
   */
  constructor(asked, keepAlive) {
    /** @type {import('undici').Dispatcher.DispatchOptions} */
    this.request = {
      path: asked.path,
      method: asked.method,
      headers: asked.headers,
      body: decoded(asked.body),
      reset: !keepAlive, // said here, for after HEAD, or DELETE with a body, undici would close by itself
    };
    this.status = asked.status;
    this.body = decoded(asked.expectBody);
    this.tally = new Tally();
  }
}

/** The requests of a load in their order, of which a process takes those at `index`, `index + of`, `index + 2 of`, ... */
export class Mix {
  /** @param {Job} job */
  constructor(job) {
    this.exchanges = job.requests.map((asked) => new Exchange(asked, job.keepAlive));
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

/** @param {string | null} base64 */
function decoded(base64) {
  return base64 === null ? null : Buffer.from(base64, 'base64');
}
