// The project's own engine: two ways to send, one way to record.

import { ClosedLoop } from './closedloop.js';
import { Scheduled } from './scheduled.js';

/** @import { Job, OnSecond, OnSends, Protocol } from './types.ts' */

/** @param {Protocol} protocol @param {Job} job @param {OnSecond} onSecond @param {OnSends} onSends */
export function openloop(protocol, job, onSecond, onSends = () => {}) {
  const Kind = job.rate === null ? ClosedLoop : Scheduled;
  return new Kind(protocol, job, onSecond, onSends);
}
