// The fast server of the benchmark: answers whatever comes in on a connection with the same bytes, without parsing
// it, so that it is never the limit. Its port is the one line on standard output; it ends with standard input.

import { createServer } from 'node:net';

/** @import { AddressInfo } from 'node:net' */

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nOK');

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(ANSWER));
  socket.on('error', () => {});
});
server.listen(0, '127.0.0.1', () => {
  console.log(/** @type {AddressInfo} */ (server.address()).port);
});
process.stdin.on('close', () => process.exit(0)).resume();
