// Interim answers (1xx). A client must bear any number of them before the answer, also where it asked for none (RFC 9110,
// section 15.2). undici takes a 100 for the end of a connection, so they are left out of what it reads.

/** @import { Socket } from 'node:net' */

const INTERIM = Buffer.from('HTTP/1.1 1');
const SWITCHING = Buffer.from('01'); // the one after which there is no other answer
const END = Buffer.from('\r\n\r\n');

/** @param {Socket} socket @param {() => boolean} isHeadDue whether what comes now begins an answer */
export function passOver(socket, isHeadDue) {
  const read = socket.read.bind(socket);
  /** @type {Buffer | null} */
  let begun = null; // of one that has not come whole
  socket.read = () => {
    for (;;) {
      /** @type {Buffer | null} */
      let chunk = read();
      if (chunk === null || (begun === null && !isHeadDue())) {
        return chunk;
      }
      if (begun !== null) {
        chunk = Buffer.concat([begun, chunk]);
      }
      const at = endOfInterim(chunk);
      begun = at < 0 ? chunk.subarray(-1 - at) : null;
      if (at >= 0 && at < chunk.length) {
        return at === 0 ? chunk : chunk.subarray(at);
      }
    }
  };
}

/** Where the answer begins; where one before it has not come whole, -1 minus where that begins. */
function endOfInterim(/** @type {Buffer} */ chunk) {
  let at = 0;
  while (at < chunk.length && mayBeInterim(chunk, at)) {
    const end = chunk.indexOf(END, at);
    if (end < 0) {
      return -1 - at;
    }
    at = end + END.length;
  }
  return at;
}

/** Whether an interim answer begins there, as far as it has come. */
function mayBeInterim(/** @type {Buffer} */ chunk, /** @type {number} */ at) {
  const length = Math.min(INTERIM.length, chunk.length - at);
  const code = at + INTERIM.length;
  return (
    chunk.compare(INTERIM, 0, length, at, at + length) === 0 &&
    !(chunk.length >= code + SWITCHING.length && chunk.compare(SWITCHING, 0, 2, code, code + 2) === 0)
  );
}
