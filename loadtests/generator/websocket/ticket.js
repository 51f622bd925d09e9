// A ticket that the server gives to a connection before its handshake, such as 'POST /tickets/ .ticket'.

import { request } from 'node:http';

/** @import { Target } from '../types.ts' */

/**
 * Requests a ticket. `.ticket` is its place in the JSON object of the answer.
 *
 * @param {Target} target
 * @param {string} ticket the method, the path and the place
 * @returns {Promise<string>}
 */
export function ticketOf({ host, port, headers }, ticket) {
  const [method, path, place] = ticket.split(' ');
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, method, path, headers: byName(headers), agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (/** @type {string} */ part) => (text += part));
      answer.on('error', reject);
      answer.on('end', () => {
        try {
          resolve(encodeURIComponent(place.split('.').filter(Boolean).reduce((value, key) => value[key], JSON.parse(text))));
        } catch {
          reject(new Error(`${method} ${path} answered ${answer.statusCode} without a ticket`));
        }
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

function byName(/** @type {string[]} */ headers) {
  /** @type {Record<string, string>} */
  const named = { 'Content-Length': '0' };
  for (let k = 0; k < headers.length; k += 2) {
    named[headers[k]] = headers[k + 1];
  }
  return named;
}
