// The project's own engine: two ways to send, one way to record.

import { ClosedLoop } from './closedloop.js';
import { Scheduled } from './scheduled.js';

/** @import { Job, OnSecond, Protocol } from './types.ts' */

/** @param {Protocol} protocol @param {Job} job @param {OnSecond} onSecond */
export function openloop(protocol, job, onSecond) {
  return job.rate === null ? new ClosedLoop(protocol, job, onSecond) : new Scheduled(protocol, job, onSecond);
}
