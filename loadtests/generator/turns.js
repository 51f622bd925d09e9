// The users who take turns to send requests.

/** @import { Request } from './types.ts' */

/**
 * Return a request with the cookie of the k-th user, if its users have cookies.
 *
 * @template {Pick<Request, 'headers' | 'cookies'>} T
 */
export function asUser(/** @type {T} */ request, /** @type {number} */ k) {
  const { headers, cookies = [] } = request;
  return cookies.length === 0
    ? request
    : { ...request, headers: [...headers, 'cookie', cookies[k % cookies.length]], cookies: [] };
}

/** The ways to send a request for each of the users. @template T */
export class Turns {
  next = 0;

  /** @param {Request} request @param {(headers: string[]) => T} prepare prepares the request with a user's headers */
  constructor(request, prepare) {
    const users = Math.max(1, request.cookies?.length ?? 0);
    this.prepared = Array.from({ length: users }, (_, k) => prepare(asUser(request, k).headers));
  }

  take() {
    return this.prepared[this.next++ % this.prepared.length];
  }
}
