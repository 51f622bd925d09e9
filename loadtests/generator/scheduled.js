// Requests by a schedule: send k is due when the schedule says, whatever became of the ones before.

import { nowMs } from './clock.js';
import { Load } from './load.js';
import { Pacer } from './pacer.js';
import { Listed, randomMoments, Schedule } from './schedule.js';

/** @import { Job, Second } from './job.js' */
/** @import { Protocol } from './protocol.js' */

const OPENED_PER_TURN = 4;

export class Scheduled extends Load {
  /**
   * @param {Protocol} protocol
   * @param {Job} job
   * @param {(second: Second) => void} onSecond
   */
  constructor(protocol, job, onSecond) {
    super(protocol, job, onSecond);
    this.schedule = scheduleOf(job);
    this.noticed = 0; // the first request that was not yet seen to be due
    this.next = 0; // the first request not handed to a connection
    this.waiting = 0; // the first request that was not found to have to wait for a connection
    this.opened = 0; // connections in this turn of the event loop
    this.nextTurn = this.nextTurn.bind(this);
    this.pacer = new Pacer(() => this.advance(), this.schedule.gapMs * job.of, this.schedule instanceof Schedule);
  }

  async ready() {
    await Promise.all([super.ready(), this.pacer.ready()]);
  }

  start(/** @type {number} */ startMs) {
    const measured = super.start(startMs);
    this.pacer.start();
    return measured;
  }

  /**
   * Sends all that is due, as far as there are connections; the rest follows as they become free.
   *
   * @returns {number} when the next request is due
   */
  advance() {
    const now = nowMs();
    while (this.due(this.noticed) <= now) {
      this.noticed++;
    }
    this.send();
    return this.due(this.noticed);
  }

  /** When the i-th request is due. */
  due(/** @type {number} */ i) {
    return this.startMs + this.schedule.dueMs(i);
  }

  /** Hands the requests that are due to connections, in their order: to idle ones, then to new ones. */
  send() {
    while (this.next < this.noticed) {
      const connection = this.idle.pop() ?? this.another();
      if (connection === undefined) {
        return;
      }
      const due = this.due(this.next);
      if (this.next >= this.waiting) {
        this.recorder.pacingLag.record(nowMs() - due);
      }
      const exchange = this.mix.at(this.next);
      this.next++;
      this.inFlight++;
      connection.send(exchange, due);
    }
  }

  /**
   * Another connection, unless all are busy or enough were opened in this turn of the event loop. Opening takes the
   * generator far longer than sending: were it to open one for each request that it is late with, it would fall
   * behind further. In the next turn some will have become idle.
   */
  another() {
    if (this.full) {
      const now = nowMs();
      for (let i = Math.max(this.waiting, this.next); i < this.noticed; i++) {
        this.recorder.pacingLag.record(now - this.due(i));
        this.recorder.waited++;
      }
      this.waiting = this.noticed;
      return undefined;
    }
    if (this.opened === 0) {
      setImmediate(this.nextTurn);
    }
    if (this.opened === OPENED_PER_TURN) {
      return undefined;
    }
    this.opened++;
    return this.open();
  }

  nextTurn() {
    this.opened = 0;
    this.send();
  }

  onFree() {
    this.pacer.moved(this.advance()); // awake anyway: no need to wait for the metronome
    if (this.isDone() && nowMs() >= this.endMs) {
      this.finish(nowMs());
    }
  }

  isDone() {
    return super.isDone() && this.next === this.schedule.count;
  }

  planned(/** @type {number} */ now) {
    return this.mix.among(this.plannedUntil(now));
  }

  plannedUntil(/** @type {number} */ now) {
    let planned = this.noticed;
    while (this.due(planned) <= now) {
      planned++; // due, but the generator had not come to it
    }
    return planned;
  }

  finish(/** @type {number} */ now) {
    if (!this.finished) {
      const planned = this.plannedUntil(now);
      for (let i = this.next; i < planned; i++) {
        this.recorder.failed.record(now - this.due(i));
      }
      this.pacer.stop();
    }
    super.finish(now);
  }
}

/** @param {Job} job */
function scheduleOf(job) {
  const { timesMs, arrivalSeed, durationMs, index, of } = job;
  const rate = /** @type {number} */ (job.rate);
  if (timesMs !== null) {
    return new Listed(timesMs, durationMs, index, of);
  }
  return arrivalSeed === null
    ? new Schedule(rate, durationMs, index, of)
    : new Listed(randomMoments(rate, durationMs, arrivalSeed), durationMs, index, of);
}
