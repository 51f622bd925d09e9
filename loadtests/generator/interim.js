// Skip interim answers (1xx). A client must accept any number of them before the answer, even without asking for them
// (RFC 9110, section 15.2). undici treats a 100 as the end of a connection, so it must not see interim answers.

/** @import { Socket } from 'node:net' */

const INTERIM = Buffer.from('HTTP/1.1 1');
const SWITCHING = Buffer.from('01');  // the last digits of status 101, after which no other answer follows
const END = Buffer.from('\r\n\r\n');

/** @param {Socket} socket @param {() => boolean} isHeadDue returns whether the next bytes are the start of an answer */
export function passOver(socket, isHeadDue) {
  const read = socket.read.bind(socket);
  /** @type {Buffer | null} */
  let begun = null;  // an incomplete interim answer
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

/** Return the index where the final answer starts, or -1 minus the index where an incomplete interim answer starts. */
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

/** Return whether the bytes received so far may be the start of an interim answer. */
function mayBeInterim(/** @type {Buffer} */ chunk, /** @type {number} */ at) {
  const length = Math.min(INTERIM.length, chunk.length - at);
  const code = at + INTERIM.length;
  return (
    chunk.compare(INTERIM, 0, length, at, at + length) === 0 &&
    !(chunk.length >= code + SWITCHING.length && chunk.compare(SWITCHING, 0, 2, code, code + 2) === 0)
  );
}
