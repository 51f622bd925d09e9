// Send HTTP/2 requests. All requests of this process are streams of one connection, except requests that close their
// connection. Without TLS, the server must accept HTTP/2 with prior knowledge. If the server delays a request with
// SETTINGS_MAX_CONCURRENT_STREAMS, the request counts as sent, because the server causes the wait.

import { connect, constants, createServer } from 'node:http2';

import { nowMs } from '../clock.js';
import { ExpectedAnswer } from '../expected_answer.js';
import { failureOf, serve } from '../loopback.js';
import { Exchange } from '../recorder.js';
import { tlsOf } from '../tls.js';
import { Turns } from '../turns.js';

/** @import { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2' */
/** @import { Connection, Job, Owner, Pool, Protocol, Request } from '../types.ts' */

/** @type {Protocol} */
export const protocol = {
  exchange: (request) => new Http2Exchange(request),
  connect: (job, owner, pool) => new Http2Stream(job, owner, /** @type {Sessions} */ (pool)),
  openPool: async () => new Sessions(),
  answering,
};

const NO_HTTP2 = 'the server does not speak HTTP/2';
/**
 * The sessions whose server supports HTTP/2. A server that only supports HTTP/1 causes a protocol error or a refused
 * stream.
 *
 * @type {WeakSet<ClientHttp2Session>}
 */
const speaksHttp2 = new WeakSet();

class Http2Exchange extends Exchange {
  /** @param {Request} request */
  constructor(request) {
    super();
    const { path, method, body, status, expectBody, closes } = request;
    this.closes = closes;
    this.sends = body === null ? null : Buffer.from(body, 'base64');
    this.turns = new Turns(request, (headers) => {
      /** @type {OutgoingHttpHeaders} */
      const named = { ':method': method, ':path': path };
      for (let at = 0; at < headers.length; at += 2) {
        const name = headers[at].toLowerCase() === 'host' ? ':authority' : headers[at].toLowerCase();
        const before = /** @type {string | string[] | undefined} */ (named[name]);
        named[name] = before === undefined ? headers[at + 1] : [before, headers[at + 1]].flat();
      }
      if (this.sends !== null) {
        named['content-length'] = this.sends.length;
      }
      return named;
    });
    this.status = status;
    this.body = expectBody === null ? null : Buffer.from(expectBody, 'base64');
  }
}

/**
 * The connections of a load. The shared connection is opened with the first request that needs it.
 *
 * @implements {Pool}
 */
class Sessions {
  deliveries = null;
  /** @type {ClientHttp2Session | null} */
  shared = null;

  close() {
    this.shared?.destroy();
  }
}

/** @implements {Connection} */
class Http2Stream {
  busy = false;
  exchange = /** @type {Http2Exchange} */ (/** @type {unknown} */ (undefined));  // undefined until the first send
  intended = 0;
  handedAt = 0;
  sentAt = 0;
  /** @type {string | number} */
  how = 0; // the status, or `stale`
  /** @type {ClientHttp2Stream | null} */
  stream = null;
  /** @type {ClientHttp2Session | null} */
  own = null; // the session of a request that closes its connection

  /** @param {Job} job @param {Owner} owner @param {Sessions} sessions */
  constructor(job, owner, sessions) {
    this.job = job;
    this.owner = owner;
    this.sessions = sessions;
  }

  /** @type {Connection['send']} */
  send(exchange, intended) {
    this.exchange = /** @type {Http2Exchange} */ (exchange);
    this.busy = true;
    this.intended = intended;
    this.handedAt = this.sentAt = nowMs();
    this.owner.onSent(this, this.sentAt);
    const { sends, turns } = this.exchange;
    const session = this.session();
    const stream = session.request(turns.take(), { endStream: sends === null });
    if (sends !== null) {
      stream.end(sends);
    }
    this.stream = stream;
    this.listen(stream, session);
  }

  session() {
    const { shared } = this.sessions;
    if (!this.exchange.closes && shared !== null && !shared.closed && !shared.destroyed) {
      return shared;
    }
    const session = open(this.job, () => this.owner.counts(this.intended));
    if (this.exchange.closes) {
      this.own = session;
    } else {
      this.sessions.shared = session;
    }
    return session;
  }

  listen(/** @type {ClientHttp2Stream} */ stream, /** @type {ClientHttp2Session} */ session) {
    let status = 0;
    const expected = new ExpectedAnswer();
    expected.begin(this.exchange);
    /** @type {Error | undefined} */
    let failed;
    stream.on('response', (/** @type {IncomingHttpHeaders & {':status'?: number}} */ headers) => {
      status = headers[':status'] ?? 0;
      this.how = 'x-stale' in headers ? 'stale' : status;
    });
    if (this.exchange.body === null) {
      stream.resume();
    } else {
      stream.on('data', (chunk) => expected.add(chunk));
    }
    stream.on('error', (error) => (failed = error));
    stream.on('end', () => {
      const isWhole = status !== 0 && stream.rstCode === constants.NGHTTP2_NO_ERROR;
      if (this.busy && this.stream === stream && isWhole) {
        this.busy = false;
        expected.report(this, this.owner, status, nowMs());
      }
    });
    stream.on('close', () => {
      // If the request was answered, this object may already have another request in flight.
      if (this.busy && this.stream === stream) {
        this.busy = false;
        const lost = Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
        const cause = /** @type {Error & {code?: string}} */ (failed?.cause ?? failed ?? lost);
        const strange = cause.code?.startsWith('ERR_HTTP2_') && !speaksHttp2.has(session);
        this.owner.onFailed(this, nowMs(), failureOf(strange ? new Error(NO_HTTP2) : cause));
      }
    });
  }

  destroy() {
    this.busy = false;
    this.stream?.close(constants.NGHTTP2_CANCEL);  // no effect if the stream has ended
    this.own?.close();
  }
}

/**
 * Open a session with the server of a load.
 *
 * @param {Job} job
 * @param {() => boolean} counts
 */
function open(job, counts) {
  const tls = tlsOf(job);
  const over = tls?.connect('h2', counts);
  const session = connect(job.origin, over && { createConnection: () => over });
  session.once('connect', () => {
    if (over && over.alpnProtocol !== 'h2') {
      session.destroy(new Error(NO_HTTP2));
    }
  });
  session.once('remoteSettings', () => speaksHttp2.add(session));
  session.on('error', () => {}); // the session's streams report the error
  session.setTimeout(job.idleMs, () => session.close());
  session.on('goaway', () => session.close());
  return session;
}

/** Start an HTTP/2 server without TLS in this process. */
function answering() {
  const server = createServer((_, response) => response.end('OK'));
  return serve((socket) => server.emit('connection', socket));
}
