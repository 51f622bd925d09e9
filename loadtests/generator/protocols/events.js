// HTTP requests, and streams of server-sent events meanwhile (Job.streams), each over a connection of its own.

import { nowMs } from '../clock.js';
import { readDelay } from '../read_delay.js';
import { EventStreams } from '../streams.js';
import { HttpConnection, protocol as http } from './http.js';

/** @import { Job, Protocol } from '../types.ts' */

const LINE_FEED = 0x0a;

/** @type {Protocol} */
export const protocol = {
  ...http,
  async openPool(job) {
    if (job.streams === null) {
      return null; // a warm-up of the engine
    }
    const exchange = http.exchange({ ...job.streams.request, closes: true }, job);
    return new EventStreams(
      job,
      (streams) => new EventConnection(job, streams),
      (connection, dueMs) => connection.send(exchange, dueMs),
    );
  },
};

/** A connection that tells its events: each ends with an empty line. */
class EventConnection extends HttpConnection {
  lineBegins = false;

  /** @param {Job} job @param {EventStreams} streams */
  constructor(job, streams) {
    super(job, streams);
    this.streams = streams;
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    readDelay.begin();
    const at = nowMs();
    for (const byte of chunk) {
      const ends = byte === LINE_FEED;
      if (ends && this.lineBegins && this.status === this.exchange.status) {
        this.streams.onEvent(this, at);
      }
      this.lineBegins = ends && !this.lineBegins;
    }
    return super.onData(chunk);
  }
}
