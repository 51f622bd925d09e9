// Send HTTP requests, and read streams of server-sent events at the same time (Job.streams). Each stream has a separate
// connection.

import { EventStreams } from '../streams.js';
import { protocol as http } from './http.js';

/** @import { Protocol } from '../types.ts' */

/** @type {Protocol} */
export const protocol = {
  ...http,
  async openPool(job) {
    if (job.streams.length === 0) {
      return null; // the engine's warm-up
    }
    const parts = job.streams.map((streams) => new EventStreams(job, streams));
    return {
      deliveries: null,
      begin: (slice) => parts.forEach((part) => part.begin(slice)),
      get closing() {
        return parts.reduce((sum, part) => sum + part.closing, 0);
      },
      end: () => parts.forEach((part) => part.end()),
      streams: () => parts.map(({ tally, endings }) => tally.counts(endings?.counts() ?? null)),
      close() {},
    };
  },
};
