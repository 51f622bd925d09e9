// Start servers in this process, and interpret the errors and addresses of sockets.

import { once } from 'node:events';
import { createServer } from 'node:net';

/** @import { AddressInfo, Socket } from 'node:net' */
/** @import { Address, ErrorKind } from './types.ts' */

/** Start a server on a free port, and return it as an AnsweringServer (see types.ts). */
export async function serve(/** @type {(socket: Socket) => void} */ onConnection) {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    request: { method: 'GET', path: '/', headers: [], body: null, status: 200, expectBody: null, closes: false, ticket: '' },
    close: () => server.close(),
  };
}

/** @type {Record<string, ErrorKind>} */
const KINDS = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
};

/** Return the failure of a request or a connection that ended with an error. */
export function failureOf(/** @type {Error & {code?: string}} */ error) {
  return { kind: KINDS[error.code ?? ''] ?? 'other', text: error.message || String(error) };
}

/** @param {string} origin @returns {Address} */
export function addressOf(origin) {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, ''); // without the brackets of an IPv6 address
  return { host, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
}
