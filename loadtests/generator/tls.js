// Open the TLS connections of a load. A load has trusted certificates, sessions that new connections can resume, and
// counts of handshakes.

import { isIP } from 'node:net';
import { connect } from 'node:tls';

import { addressOf } from './loopback.js';

/** @import { Job } from './types.ts' */

const MAX_SESSIONS = 100;

/** @type {WeakMap<Job, Tls>} */
const known = new WeakMap();

/** Return the TLS settings and counts of a load, or null if its origin isn't https://. */
export function tlsOf(/** @type {Job} */ job) {
  if (!job.origin.startsWith('https:')) {
    return null;
  }
  const tls = known.get(job) ?? new Tls(job);
  known.set(job, tls);
  return tls;
}

class Tls {
  handshakes = { full: 0, resumed: 0 };
  /** @type {Buffer[]} */
  sessions = [];

  constructor(/** @type {Job} */ job) {
    const { host, port } = addressOf(job.origin);
    this.options = { host, port, servername: isIP(host) ? '' : host, ca: job.ca ?? undefined };
    this.resumption = job.resumption;
  }

  /**
   * Open a connection for a protocol, which is named as in ALPN.
   *
   * @param {string} protocol
   * @param {() => boolean} counts returns whether the connection's request is measured; called after the handshake
   */
  connect(protocol, counts) {
    // Like a browser, use each session only once while there are other sessions (RFC 8446, C.4). Some servers forget a
    // session when it is resumed.
    const session = this.sessions.length > 1 ? this.sessions.pop() : this.sessions[0];
    const socket = connect({ ...this.options, session, ALPNProtocols: [protocol] });
    socket.setNoDelay(true);
    socket.on('session', (session) => {
      if (this.resumption) {
        this.sessions.push(session);
        this.sessions.splice(0, this.sessions.length - MAX_SESSIONS);
      }
    });
    socket.once('secureConnect', () => {
      if (counts()) {
        this.handshakes[socket.isSessionReused() ? 'resumed' : 'full']++;
      }
    });
    return socket;
  }
}
