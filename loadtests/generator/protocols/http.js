// Send HTTP/1.1 requests. Each connection handles one request at a time.
//
// This module writes the requests and parses the answers itself, because that needs less CPU time than a client library,
// above all for new connections. No request is ever sent twice. If a server closes an idle connection at the moment when
// the connection is used again, the request counts as a reset. This is rare, because a connection that was idle for
// `Job.idleMs` isn't used again.
//
// Gunicorn's sync worker waits until the client closes the connection, and can't answer another request before that. If
// an answer is the last on its connection, the client therefore closes the connection as soon as the last byte of the
// answer arrives, before it records the answer.

import { connect } from 'node:net';

import { Answer, InvalidAnswer } from '../answer.js';
import { nowMs } from '../clock.js';
import { ExpectedAnswer } from '../expected_answer.js';
import { addressOf, failureOf, serve } from '../loopback.js';
import { Exchange } from '../recorder.js';
import { tlsOf } from '../tls.js';
import { Turns } from '../turns.js';

/** @import { Socket } from 'node:net' */
/** @import { AnswerHandler, Connection, Job, Owner, Protocol, Request } from '../types.ts' */

const STALE = /\r\nx-stale:/i; // the header of an answer with an old copy, which a view sends if its origin failed
const IS_LAST = /^HTTP\/1\.0(?![^]*\r\nconnection:[ \t]*keep-alive)|\r\nconnection:([^\r]*,)?[ \t]*close[ \t]*(,|\r|$)/i;
const HAS_LENGTH = new Set(['POST', 'PUT', 'PATCH']); // methods that need Content-Length even without a body
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nOK');

const buffer = Buffer.allocUnsafeSlow(65_536); // each read is parsed immediately, so all connections share the buffer

/** @type {Protocol} */
export const protocol = {
  exchange: (request, job) => new HttpExchange(request, job),
  connect: (job, owner) => new HttpConnection(job, owner),
  // The server answers any input with the same bytes and doesn't parse it, so that it is never the bottleneck.
  answering: () => serve((socket) => socket.on('data', () => socket.write(ANSWER))),
};

class HttpExchange extends Exchange {
  /** @param {Request} request @param {Job} job */
  constructor(request, job) {
    super();
    const { method, body, status, expectBody, closes } = request;
    this.closes = closes;
    this.isLast = !job.keepAlive || closes;
    this.method = method;
    const content = decoded(body); // all users share the body
    this.content = content;
    const { host } = new URL(job.origin);
    this.turns = new Turns(request, (headers) => headOf({ ...request, headers }, content?.length ?? 0, host, this.isLast));
    this.status = status;
    this.body = decoded(expectBody);
  }
}

/** @implements {Connection} @implements {AnswerHandler} */
export class HttpConnection {
  busy = false;
  exchange = /** @type {HttpExchange} */ (/** @type {unknown} */ (undefined));  // undefined until the first send
  intended = 0;
  handedAt = 0;
  sentAt = 0;
  status = 0; // 0 until the head of the answer has arrived
  /** @type {string | number} */
  how = 0; // the status, or `stale`
  isLast = false; // whether the connection is closed after the answer
  idleSince = 0;
  expected = new ExpectedAnswer();
  answer = new Answer('GET', this);
  /** @type {Socket | null} */
  socket = null;

  /** @param {Job} job @param {Owner} owner */
  constructor(job, owner) {
    this.job = job;
    this.owner = owner;
    this.address = addressOf(job.origin);
  }

  /**
   * Send a request that was due at `intended`. If the request needs a new connection, it counts as sent when the
   * connection starts to open, because a server that accepts connections slowly causes this delay itself.
   *
   * @type {Connection['send']}
   */
  send(exchange, intended) {
    this.exchange = /** @type {HttpExchange} */ (exchange);
    this.busy = true;
    this.intended = intended;
    this.handedAt = this.sentAt = nowMs();
    this.status = 0;
    const { content, isLast, method, turns } = this.exchange;
    this.isLast = isLast;
    this.expected.begin(this.exchange);
    this.answer = new Answer(method, this);
    if (this.sentAt - this.idleSince >= this.job.idleMs) {
      this.disconnect();
    }
    this.owner.onSent(this, this.sentAt);
    this.socket ??= this.open();
    const head = turns.take();
    this.socket.write(content ? Buffer.concat([head, content]) : head);
  }

  open() {
    const tls = tlsOf(this.job);
    const callback = (/** @type {number} */ length) => onBytes(buffer.subarray(0, length));
    const socket =
      tls?.connect('http/1.1', () => this.owner.counts(this.intended)) ??
      connect({ ...this.address, noDelay: true, onread: { buffer, callback } });
    const onBytes = (/** @type {Buffer} */ bytes) => {
      if (this.socket === socket) {
        this.onBytes(bytes);
      }
      return true;
    };
    if (tls) {
      socket.on('data', onBytes);
    }
    socket.on('error', (error) => this.socket === socket && this.fail(error));
    socket.on('end', () => this.socket === socket && this.onEnd());
    return socket;
  }

  onBytes(/** @type {Buffer} */ bytes) {
    if (!this.busy) {
      this.disconnect(); // the server sent more than an answer
      return;
    }
    try {
      const hasMore = this.answer.take(bytes);
      this.isLast ||= hasMore; // bytes after the answer must not become the start of the next answer
    } catch (error) {
      if (!(error instanceof InvalidAnswer)) {
        throw error;
      }
      this.fail(error);
    }
    if (this.answer.isComplete) {
      this.complete();
    }
  }

  onEnd() {
    if (this.answer.isUntilClose) {
      this.isLast = true;
      this.complete();
    } else {
      this.fail(Object.assign(new Error('the server closed the connection'), { code: 'ECONNRESET' }));
    }
  }

  complete() {
    if (this.busy) {
      this.idleSince = nowMs(); // before the connection is closed, which takes time
      if (this.isLast) {
        this.disconnect();
      }
      this.busy = false;
      this.expected.report(this, this.owner, this.status, this.idleSince);
    }
  }

  fail(/** @type {Error} */ error) {
    const at = nowMs();
    this.disconnect();
    if (this.busy) {
      this.busy = false;
      this.owner.onFailed(this, at, failureOf(error));
    }
  }

  disconnect() {
    const { socket } = this;
    this.socket = null; // ignores further events of the socket
    socket?.destroy();
  }

  destroy() {
    this.busy = false;
    this.disconnect();
  }

  // Called by Answer.

  /** @param {number} status @param {string} head */
  onHead(status, head) {
    this.status = status;
    this.how = STALE.test(head) ? 'stale' : status;
    this.isLast ||= IS_LAST.test(head);
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    this.expected.add(chunk);
  }
}

/**
 * Return the head of a request.
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
