// Send HTTP requests, and read streams of server-sent events at the same time (Job.streams). Each stream has a separate
// connection.

import { randomUUID } from 'node:crypto';

import { nowMs } from '../clock.js';
import { EventScanner } from '../event_scanner.js';
import { addressOf } from '../loopback.js';
import { readDelay } from '../read_delay.js';
import { EventStreams, StreamsTogether } from '../streams.js';
import { withTicket } from '../ticket.js';
import { asUser } from '../turns.js';
import { HttpConnection, protocol as http } from './http.js';

/** @import { Socket } from 'node:net' */
/** @import { Job, Owner, Protocol, Request, Streams } from '../types.ts' */

const MAX_TEXT_BYTES = 16 * 2 ** 20;

/** @type {Protocol} */
export const protocol = {
  ...http,
  async openPool(job) {
    // The engine's warm-up has no streams.
    return job.streams.length === 0 ? null : new StreamsTogether(job.streams.map((streams) => asked(job, streams)));
  },
};

/** @param {Job} job @param {Streams} streams */
function asked(job, streams) {
  const { request, pauseMs, endings } = streams;
  const token = randomUUID();
  const exchange = exchangeOf(job, request);
  const pool = new EventStreams(streams, job.index, {
    connect: (owner) => new EventConnection(job, owner, pauseMs),
    send(connection, dueMs, number) {
      const own = asUser(request, number);
      const next = endings ? noted(own, `${token}.${number}`) : own;
      if (request.ticket === '') {
        connection.send(endings ? exchangeOf(job, next) : exchange, dueMs);
        return;
      }
      const server = { ...addressOf(job.origin), headers: own.headers, ca: job.ca };
      withTicket(server, request.ticket, next.path).then(
        (path) => pool.live.has(connection) && connection.send(exchangeOf(job, { ...next, path }), dueMs),
        (error) => pool.onFailed(connection, nowMs(), { kind: 'other', text: `no ticket: ${error.message}` }),
      );
    },
    endings(heard) {
      if (endings) {
        const asking = new TextConnection(job, heard);
        asking.send(exchangeOf(job, noted(endings, token)), nowMs());
      }
    },
  });
  return pool;
}

/** @param {Job} job @param {Request} request */
function exchangeOf(job, request) {
  return http.exchange({ ...request, closes: true }, job);
}

/** @param {Request} request @param {string} note @returns {Request} */
function noted(request, note) {
  return { ...request, path: `${request.path}${request.path.includes('?') ? '&' : '?'}note=${note}` };
}

/** A connection that reports each event. After the first event, the connection reads nothing for `pauseMs`. */
class EventConnection extends HttpConnection {
  scanner = new EventScanner();
  rests = false;
  resume = () => {};

  /** @param {Job} job @param {EventStreams} streams @param {number} pauseMs */
  constructor(job, streams, pauseMs) {
    super(job, streams);
    this.streams = streams;
    this.pauseMs = pauseMs;
  }

  /** Return false, because only the sockets of undici can pause. */
  isAlone() {
    return false;
  }

  /**
   * Prepare to pause the socket. A pause in undici itself would mix up incomplete chunks.
   *
   * @param {Socket} socket
   */
  opened(socket) {
    super.opened(socket);
    const { read } = socket;
    socket.read = () => (this.rests ? null : read());
    this.resume = () => {
      this.rests = false;
      socket.emit('readable');
    };
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    readDelay.begin();
    const at = nowMs();
    if (this.status === this.exchange.status) {
      this.scanner.scan(chunk, () => {
        this.streams.onEvent(this, at);
        this.rest();
      });
    }
    return super.onData(chunk);
  }

  rest() {
    if (this.pauseMs > 0) {
      this.rests = true;
      setTimeout(this.resume, this.pauseMs);
      this.pauseMs = 0;
    }
  }
}

/** A connection for one request with a text as its answer. Answers longer than MAX_TEXT_BYTES are ignored. */
class TextConnection extends HttpConnection {
  /** @type {Buffer[]} */
  chunks = [];
  size = 0;

  /** @param {Job} job @param {(text: string, at: number) => void} heard */
  constructor(job, heard) {
    /** @type {Owner} */
    const owner = {
      counts: () => false,
      onSent() {},
      onOk: (_, at) => {
        heard(Buffer.concat(this.chunks).toString(), at);
        this.destroy();
      },
      onFailed: () => setImmediate(() => this.destroy()),
    };
    super(job, owner);
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    this.size += chunk.length;
    if (this.size > MAX_TEXT_BYTES) {
      setImmediate(() => this.destroy());
    } else {
      this.chunks.push(Buffer.from(chunk));
    }
    return true;
  }
}
