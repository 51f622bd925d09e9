// The project's own engine: two ways to send, one way to record.

import { ClosedLoop } from './closedloop.js';
import { Scheduled } from './scheduled.js';

/** @import { Job, Running, Second } from './job.js' */
/** @import { Protocol } from './protocol.js' */

/**
 * @param {Protocol} protocol
 * @param {Job} job
 * @param {(second: Second) => void} onSecond
 * @returns {Running}
 */
export function openloop(protocol, job, onSecond) {
  return job.rate === null ? new ClosedLoop(protocol, job, onSecond) : new Scheduled(protocol, job, onSecond);
}
