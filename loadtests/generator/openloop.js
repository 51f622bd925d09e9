// The project's own engine: two ways to send, one way to record.

import { ClosedLoop } from './closedloop.js';
import { Scheduled } from './scheduled.js';

/** @import { Job, Running, Second } from './job.js' */

/**
 * @param {Job} job
 * @param {(second: Second) => void} onSecond
 * @returns {Running}
 */
export function openloop(job, onSecond) {
  return job.rate === null ? new ClosedLoop(job, onSecond) : new Scheduled(job, onSecond);
}
