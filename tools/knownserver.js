// Run a server with known response times. The server prints its origin, and ends when its standard input is closed.
//
//     knownserver.js delay <ms>                   answers each request after the delay
//     knownserver.js freeze <for ms> <every ms>   answers immediately, but freezes for a part of each interval

import { serve } from '../loadtests/generator/loopback.js';

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nOK';
const [kind, ms, everyMs] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const never = new Int32Array(new SharedArrayBuffer(4));

/** Freeze the server at regular times, from this moment on. */
function freezeAt(/** @type {number} */ moment) {
  setTimeout(() => {
    Atomics.wait(never, 0, 0, moment + ms - performance.now());
    freezeAt(moment + everyMs);
  }, moment - performance.now());
}

const { origin } = await serve((socket) => {
  socket.on('data', () => (kind === 'delay' ? setTimeout(() => socket.write(ANSWER), ms) : socket.write(ANSWER)));
});
if (kind === 'freeze') {
  freezeAt(performance.now() + everyMs - ms);
}
console.log(origin);
process.stdin.on('close', () => process.exit(0)).resume();
