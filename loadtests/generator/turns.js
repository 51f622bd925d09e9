// The ways to send a request for each of the users, who take turns.

/** @import { Request } from './types.ts' */

/** @template T */
export class Turns {
  next = 0;

  /** @param {Request} request @param {(headers: string[]) => T} prepare prepares the request with a user's headers */
  constructor({ headers, cookies = [] }, prepare) {
    const users = cookies.map((cookie) => [...headers, 'cookie', cookie]);
    this.prepared = (users.length > 0 ? users : [headers]).map(prepare);
  }

  take() {
    return this.prepared[this.next++ % this.prepared.length];
  }
}
