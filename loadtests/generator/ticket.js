// Request a ticket, which the server issues for one WebSocket or event stream, as in 'POST /tickets/ .ticket'.

import * as http from 'node:http';
import * as https from 'node:https';

/** @import { Address } from './types.ts' */

const TICKET = '$TICKET';

const MAX_LENGTH = 65_536; // of an answer
const WITHIN_MS = 10_000;

/**
 * Request a ticket, and return a text with the ticket instead of `$TICKET`. In the example above, `.ticket` is the
 * ticket's place in the JSON object of the answer.
 *
 * @param {Address & { headers: string[], ca?: string | null }} server `ca` is the certificate of a server with TLS
 * @param {string} ticket the method, the path and the place
 * @param {string} text
 * @returns {Promise<string>}
 */
export function withTicket({ host, port, headers, ca }, ticket, text) {
  const [method, path, place] = ticket.split(' ');
  return new Promise((resolve, reject) => {
    const failed = (/** @type {string} */ what) => reject(new Error(`${method} ${path} ${what}`));
    const signal = AbortSignal.timeout(WITHIN_MS);
    const options = { host, port, method, path, headers: byName(headers), agent: false, signal };
    const sent = (ca ? https : http).request({ ...options, ca: ca ?? undefined }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (/** @type {string} */ part) => {
        body += part;
        if (body.length > MAX_LENGTH) {
          failed(`answered more than ${MAX_LENGTH} characters`);
          sent.destroy();
        }
      });
      answer.on('error', fail);
      answer.on('end', () => {
        const found = valueAt(body, place);
        if (found === undefined) {
          failed(`answered ${answer.statusCode} without a ticket`);
        } else {
          resolve(text.replace(TICKET, encodeURIComponent(found)));
        }
      });
    });
    const fail = (/** @type {Error} */ error) =>
      signal.aborted ? failed(`sent no complete answer in ${WITHIN_MS / 1000} s`) : reject(error);
    sent.on('error', fail);
    sent.end();
  });
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

function byName(/** @type {string[]} */ headers) {
  /** @type {Record<string, string>} */
  const named = { 'Content-Length': '0' };
  for (let k = 0; k < headers.length; k += 2) {
    named[headers[k]] = headers[k + 1];
  }
  return named;
}
