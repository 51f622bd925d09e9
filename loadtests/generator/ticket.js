// Ask the server for a text outside of the load, such as a ticket for one WebSocket or event stream.

import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';

/** @import { IncomingMessage } from 'node:http' */

const TICKET = '$TICKET';
const MAX_LENGTH = 16 * 2 ** 20; // of an answer
const WITHIN_MS = 10_000;

/**
 * Send a request over its own connection.
 *
 * @param {{ origin: string, headers: string[], ca?: string | null }} server `ca` is the certificate of a server with TLS
 * @param {'GET' | 'POST'} method
 * @param {string} path
 */
export async function ask({ origin, headers, ca }, method, path) {
  /** @type {Record<string, string>} */
  const named = {};
  for (let at = 0; at < headers.length; at += 2) {
    named[headers[at]] = headers[at + 1];
  }
  const { request } = origin.startsWith('https:') ? https : http;
  const signal = AbortSignal.timeout(WITHIN_MS);
  try {
    const sent = request(`${origin}${path}`, { method, headers: named, ca: ca ?? undefined, agent: false, signal });
    sent.on('error', () => {}); // an error after the head of the answer also ends the loop below
    sent.end();
    const [answer] = /** @type {[IncomingMessage]} */ (await once(sent, 'response'));
    let text = '';
    for await (const part of answer.setEncoding('utf8')) {
      text += part;
      if (text.length > MAX_LENGTH) {
        throw new Error(`the answer has over ${MAX_LENGTH} characters`);
      }
    }
    return { status: answer.statusCode, text };
  } catch (error) {
    throw new Error(`${method} ${path}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Request a ticket, and return a text with the ticket instead of `$TICKET`.
 *
 * @param {Parameters<typeof ask>[0]} server
 * @param {string} ticket the method, the path and the ticket's place in the JSON answer, as in `POST /tickets/ .ticket`
 * @param {string} text
 */
export async function withTicket(server, ticket, text) {
  const [method, path, place] = ticket.split(' ');
  const answer = await ask(server, method === 'POST' ? 'POST' : 'GET', path);
  const found = valueAt(answer.text, place);
  if (found === undefined) {
    throw new Error(`${method} ${path} answered ${answer.status} without a ticket`);
  }
  return text.replace(TICKET, encodeURIComponent(found));
}

/** Return the string or number at a place in JSON, or undefined if the place has no such value. */
function valueAt(/** @type {string} */ text, /** @type {string} */ place) {
  try {
    const found = place.split('.').filter(Boolean).reduce((value, key) => value[key], JSON.parse(text));
    return ['string', 'number'].includes(typeof found) ? found : undefined;
  } catch {
    return undefined;
  }
}
