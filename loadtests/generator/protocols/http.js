// HTTP: one keep-alive connection is an undici Client, one request on it at a time.
//
// It takes undici's oldest handler interface, for that costs least: one handler for all requests of a connection and
// no parsed headers. Nothing is ever sent twice: where a server closes a kept connection at the very moment it is
// used again, the request counts as a reset. undici looks for such a close before it writes, so that is rare.

import { once } from 'node:events';
import { createServer } from 'node:net';

import { Client } from 'undici';

import { nowMs } from '../clock.js';
import { Exchange } from '../mix.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { Asked, ErrorKind, Job } from '../job.js' */
/** @import { Answering, Connection, Owner, Protocol } from '../protocol.js' */

const STALE = 'x-stale'; // what a view adds that answers with a copy of earlier, for the origin failed
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nOK');

/** @type {Protocol} */
export const protocol = {
  exchange: (asked, job) => new HttpExchange(asked, job.keepAlive),
  connect: (job, owner) => new HttpConnection(job, owner),
  answering,
};

/** A request, and what it should be answered with. */
class HttpExchange extends Exchange {
  /**
   * @param {Asked} asked
   * @param {boolean} keepAlive
   */
  constructor(asked, keepAlive) {
    super();
    /** @type {import('undici').Dispatcher.DispatchOptions} */
    this.request = {
      path: asked.path,
      method: asked.method,
      headers: asked.headers,
      body: decoded(asked.body),
      reset: !keepAlive, // said here, for after HEAD, or DELETE with a body, undici would close by itself
    };
    this.status = asked.status;
    this.body = decoded(asked.expectBody);
  }
}

/** @implements {Connection} */
class HttpConnection {
  /**
   * @param {Job} job
   * @param {Owner} owner
   */
  constructor(job, owner) {
    this.owner = owner;
    this.client = new Client(job.origin, {
      pipelining: job.keepAlive ? 1 : 0, // undici's way to say Connection: close
      keepAliveTimeout: job.idleMs,
      headersTimeout: 0, // timeouts are the owner's
      bodyTimeout: 0,
      connectTimeout: 0,
    });
    this.exchange = /** @type {HttpExchange} */ (/** @type {unknown} */ (undefined)); // until something is sent
    this.client.on('connect', () => {
      this.open = true;
    });
    this.client.on('disconnect', () => {
      this.open = false;
      if (this.busy && this.sentAt === 0) {
        this.wasSent(); // closed before the request was written: undici opens it again
      }
    });
    this.open = false;
    this.busy = false;
    this.intended = 0;
    this.handedAt = 0;
    this.sentAt = 0; // 0: not yet
    this.status = 0;
    /** @type {string | number} */
    this.how = 0; // the status, or that it was a stale copy
    this.read = 0;
    this.bodyIsRight = true;
  }

  /**
   * Sends a request that was due at `intended`. It counts as sent when its first byte is written or, where a
   * connection must be opened for it, when that begins: a server that is slow to accept is slow.
   *
   * @param {Exchange} exchange
   * @param {number} intended
   */
  send(exchange, intended) {
    this.exchange = /** @type {HttpExchange} */ (exchange);
    this.busy = true;
    this.intended = intended;
    this.handedAt = nowMs();
    this.sentAt = 0;
    this.read = 0;
    this.bodyIsRight = true;
    if (!this.open) {
      this.wasSent();
    }
    this.client.dispatch(this.exchange.request, this);
  }

  wasSent() {
    this.sentAt = nowMs();
    this.owner.onSent(this, this.sentAt);
  }

  /** Gives the request up and the connection with it. The owner is not told. */
  destroy() {
    this.busy = false;
    this.client.destroy().catch(() => {});
  }

  // What undici calls.

  onConnect() {
    if (this.sentAt === 0) {
      this.wasSent();
    }
  }

  /**
   * @param {number} status
   * @param {Buffer[]} headers names and values by turns
   */
  onHeaders(status, headers) {
    this.status = status;
    this.how = isStale(headers) ? 'stale' : status;
    return true;
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    const expected = this.exchange.body;
    if (expected !== null) {
      const end = this.read + chunk.length;
      this.bodyIsRight &&= end <= expected.length && chunk.compare(expected, this.read, end) === 0;
      this.read = end;
    }
    return true;
  }

  onComplete() {
    if (!this.busy) {
      return;
    }
    this.busy = false;
    const at = nowMs();
    const { status, body } = this.exchange;
    if (this.status !== status) {
      this.owner.onFailed(this, at, 'status', true, `status ${this.status} instead of ${status}`);
    } else if (body !== null && (!this.bodyIsRight || this.read !== body.length)) {
      this.owner.onFailed(this, at, 'wrong-body', true, 'the body is not the expected one');
    } else {
      this.owner.onOk(this, at);
    }
  }

  /** @param {Error} error */
  onError(error) {
    if (!this.busy) {
      return;
    }
    this.busy = false;
    this.owner.onFailed(this, nowMs(), kindOf(error), false, error.message || String(error));
  }
}

/** @param {Buffer[]} headers */
function isStale(headers) {
  for (let at = 0; at < headers.length; at += 2) {
    // Most names have another length: hardly any is ever turned into a text.
    if (headers[at].length === STALE.length && headers[at].toString('latin1').toLowerCase() === STALE) {
      return true;
    }
  }
  return false;
}

/**
 * @param {Error & {code?: string}} error
 * @returns {ErrorKind}
 */
function kindOf(error) {
  switch (error.code) {
    case 'ECONNREFUSED':
      return 'refused';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET': // closed by the server, before or within the answer
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return 'reset';
    case 'ETIMEDOUT':
      return 'timeout';
    default:
      return 'other';
  }
}

/**
 * Answers whatever comes in on a connection with the same bytes, without parsing it, so that it is never the limit.
 *
 * @returns {Promise<Answering>}
 */
async function answering() {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('data', () => socket.write(ANSWER));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    asked: { method: 'GET', path: '/', headers: [], body: null, status: 200, expectBody: null },
    close: () => server.close(),
  };
}

/** @param {string | null} base64 */
function decoded(base64) {
  return base64 === null ? null : Buffer.from(base64, 'base64');
}
