// Send HTTP requests. Each keep-alive connection is an undici Client with one request at a time.
//
// This module uses undici's oldest handler interface, which needs the least CPU time, because one handler serves all
// requests of a connection and headers aren't parsed. No request is ever sent twice. If a server closes an idle
// connection at the moment when the connection is used again, the request counts as a reset. This is rare, because
// undici checks for a close before it writes.
//
// If the server or the client closes the connection after each answer, OneRequest sends the requests (one_request.js).

import { buildConnector, Client } from 'undici';

import { nowMs } from '../clock.js';
import { ExpectedBody } from '../expected_body.js';
import { passOver } from '../interim.js';
import { addressOf, failureOf, serve } from '../loopback.js';
import { OneRequest } from '../one_request.js';
import { Exchange } from '../recorder.js';
import { tlsOf } from '../tls.js';
import { Turns } from '../turns.js';

/** @import { Socket } from 'node:net' */
/** @import { Address, AnswerHandler, Connection, Job, Owner, Protocol, Request } from '../types.ts' */

const STALE = 'x-stale';  // the header of an answer with an old copy, which a view sends if its origin failed
const HAS_LENGTH = new Set(['POST', 'PUT', 'PATCH']); // methods that need Content-Length even without a body
const ENOUGH_CLOSED = 2; // after this number of consecutive closes by the server, OneRequest sends the requests
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nOK');

const connect = buildConnector({ timeout: 0 }); // no timeout, because the owner of a connection enforces the timeouts

/** @type {Protocol} */
export const protocol = {
  exchange: (request, job) => new HttpExchange(request, job),
  connect: (job, owner) => new HttpConnection(job, owner),
  // The server answers any input with the same bytes and doesn't parse it, so that it is never the bottleneck.
  answering: () => serve((socket) => socket.on('data', () => socket.write(ANSWER))),
};

/**
 * Return the function with which undici opens the connections of a job.
 *
 * @param {Job} job
 * @param {() => boolean} counts
 * @returns {typeof connect}
 */
function opening(job, counts) {
  const tls = tlsOf(job);
  return tls === null
    ? connect
    : (_, callback) => {
        tls.connect('http/1.1', counts, (...outcome) => callback(.../** @type {Parameters<typeof callback>} */ (outcome)));
      };
}

class HttpExchange extends Exchange {
  /** @param {Request} request @param {Job} job */
  constructor(request, job) {
    super();
    const { path, method, body, status, expectBody, closes } = request;
    this.closes = closes;
    this.isLast = !job.keepAlive || closes;
    this.method = method;
    const content = decoded(body); // all users share the body
    this.content = content;
    this.turns = new Turns(request, (headers) => {
      const head = headOf({ ...request, headers }, content?.length ?? 0, new URL(job.origin).host, this.isLast);
      // By default, undici closes the connection after HEAD, and after DELETE with a body, so `reset` is always set.
      /** @type {import('undici').Dispatcher.DispatchOptions} */
      const options = { path, method, headers, body: content, reset: this.isLast };
      return { head, options };
    });
    this.status = status;
    this.body = decoded(expectBody);
  }
}

/** @implements {Connection} @implements {AnswerHandler} */
export class HttpConnection {
  open = false;
  busy = false;
  exchange = /** @type {HttpExchange} */ (/** @type {unknown} */ (undefined));  // undefined until the first send
  intended = 0;
  handedAt = 0;
  sentAt = 0;
  status = 0; // 0 until the head of the answer has arrived
  /** @type {string | number} */
  how = 0; // the status, or `stale`
  body = new ExpectedBody();
  closedInARow = 0; // the number of consecutive answers with which the server closed the connection
  /** @type {Client | null} */
  client = null;
  /** @type {OneRequest | null} */
  oneRequest = null;

  /** @param {Job} job @param {Owner} owner */
  constructor(job, owner) {
    this.job = job;
    this.owner = owner;
    this.address = tlsOf(job) === null ? addressOf(job.origin) : null;
  }

  /** Return whether OneRequest sends the request. OneRequest doesn't support TLS. */
  isAlone() {
    return this.address !== null && (this.exchange.isLast || this.closedInARow >= ENOUGH_CLOSED);
  }

  newClient() {
    const { job } = this;
    const open = opening(job, () => this.owner.counts(this.intended));
    const client = new Client(job.origin, {
      pipelining: job.keepAlive ? 1 : 0, // 0 makes undici send Connection: close
      keepAliveTimeout: job.idleMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) => {
        open(options, (...outcome) => {
          const [, socket] = outcome;
          if (socket) {
            this.opened(socket);
          }
          callback(...outcome);
        });
      },
    });
    client.on('connect', () => {
      this.open = true;
    });
    client.on('disconnect', () => {
      this.open = false;
      if (this.busy && this.sentAt === 0) {
        this.wasSent(); // the connection closed before the request was written, so undici opens it again
      }
    });
    return client;
  }

  /** @param {Socket} socket */
  opened(socket) {
    passOver(socket, () => this.status === 0);
  }

  /**
   * Send a request that was due at `intended`. The request counts as sent when its first byte is written. If the
   * request needs a new connection, it counts as sent when the connection starts to open, because a server that accepts
   * connections slowly causes this delay itself.
   *
   * @type {Connection['send']}
   */
  send(exchange, intended) {
    this.exchange = /** @type {HttpExchange} */ (exchange);
    this.busy = true;
    this.intended = intended;
    this.handedAt = nowMs();
    this.sentAt = 0;
    this.status = 0;
    this.body.begin(this.exchange.body);
    const isAlone = this.isAlone();
    if (isAlone || !this.open) {
      this.wasSent();
    }
    const { head, options } = this.exchange.turns.take();
    if (isAlone) {
      const { content, method } = this.exchange;
      const bytes = content ? Buffer.concat([head, content]) : head;
      this.oneRequest = new OneRequest(/** @type {Address} */ (this.address), method, bytes, this);
    } else {
      this.client ??= this.newClient();
      this.client.dispatch(options, this);
    }
  }

  wasSent() {
    this.sentAt = nowMs();
    this.owner.onSent(this, this.sentAt);
  }

  destroy() {
    this.busy = false;
    this.oneRequest?.destroy();
    this.client?.destroy().catch(() => {});
  }

  // Called by OneRequest.

  /** @param {number} status @param {string} head */
  onHead(status, head) {
    this.status = status;
    this.how = /\r\nx-stale:/i.test(head) ? 'stale' : status;
    this.noteClose(/\r\nconnection:[ \t]*close[ \t]*(\r|$)/i.test(head));
  }

  noteClose(/** @type {boolean} */ closes) {
    this.closedInARow = closes ? this.closedInARow + 1 : 0;
  }

  // Called by undici. OneRequest also calls the last three methods.

  onConnect() {
    if (this.sentAt === 0) {
      this.wasSent();
    }
  }

  /**
   * @param {number} status
   * @param {Buffer[]} headers name, value, name, value, ...
   */
  onHeaders(status, headers) {
    this.status = status;
    this.how = valueOf(headers, STALE) === null ? status : 'stale';
    this.noteClose(valueOf(headers, 'connection')?.toLowerCase() === 'close');
    return true;
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    this.body.add(chunk);
    return true;
  }

  onComplete() {
    if (!this.busy) {
      return;
    }
    this.busy = false;
    const at = nowMs();
    const { status } = this.exchange;
    if (this.status !== status) {
      const text = `status ${this.status} instead of ${status}`;
      this.owner.onFailed(this, at, { kind: 'status', answered: true, text });
    } else if (!this.body.isRight) {
      const text = 'the answer has an unexpected body';
      this.owner.onFailed(this, at, { kind: 'wrong-body', answered: true, text });
    } else {
      this.owner.onOk(this, at);
    }
  }

  /** @param {Error} error */
  onError(error) {
    if (this.busy) {
      this.busy = false;
      this.owner.onFailed(this, nowMs(), failureOf(error));
    }
  }
}

/** @param {Buffer[]} headers @param {string} name in lower case */
function valueOf(headers, name) {
  for (let at = 0; at < headers.length; at += 2) {
    // Compare the lengths first, so that few names are converted to text.
    if (headers[at].length === name.length && headers[at].toString('latin1').toLowerCase() === name) {
      return headers[at + 1].toString('latin1');
    }
  }
  return null;
}

/**
 * Return the head of a request, as undici would write it.
 *
 * @param {Request} request
 * @param {number} length the length of the body
 * @param {string} host
 * @param {boolean} isLast
 */
function headOf({ path, method, headers }, length, host, isLast) {
  const lines = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at].toLowerCase() === 'host') {
      host = headers[at + 1];
    } else {
      lines.push(`${headers[at]}: ${headers[at + 1]}`);
    }
  }
  lines.unshift(`${method} ${path} HTTP/1.1`, `host: ${host}`, `connection: ${isLast ? 'close' : 'keep-alive'}`);
  if (length > 0 || HAS_LENGTH.has(method)) {
    lines.push(`content-length: ${length}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** @param {string | null} base64 */
function decoded(base64) {
  return base64 === null ? null : Buffer.from(base64, 'base64');
}
