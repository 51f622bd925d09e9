// The project's own engine: a closed loop if the job has no rate, otherwise a load that follows a schedule.

import { ClosedLoop } from './closedloop.js';
import { Scheduled } from './scheduled.js';

/** @import { Job, OnSecond, Protocol } from './types.ts' */

/** @param {Protocol} protocol @param {Job} job @param {OnSecond} onSecond */
export function openloop(protocol, job, onSecond) {
  const Kind = job.rate === null ? ClosedLoop : Scheduled;
  return new Kind(protocol, job, onSecond);
}
