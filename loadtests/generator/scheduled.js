// Requests by a schedule: send k is due when the schedule says, whatever became of the ones before.

import { nowMs } from './clock.js';
import { Load } from './load.js';
import { Pacer } from './pacer.js';
import { Schedule, scheduleOf } from './schedule.js';

/** @import { Slice } from './types.ts' */

const OPENED_PER_TURN = 4;

export class Scheduled extends Load {
  first = 0; // the place of the slice's first send in the order of the whole load
  schedule = new Schedule([]);
  noticed = 0; // the first request that was not yet found due
  next = 0; // the first request not handed to a connection
  waiting = 0; // the first request that was not found to wait for a connection
  opened = 0; // connections in this turn of the event loop
  /** @type {(() => void) | undefined} */
  growth; // records it, once in a slice
  pacer = new Pacer(() => this.advance());

  async ready() {
    await Promise.all([super.ready(), this.pacer.ready()]);
  }

  run(/** @type {Slice} */ slice) {
    this.schedule = scheduleOf(this.job, slice);
    this.noticed = this.next = this.waiting = 0;
    const over = super.run(slice);
    const { arrivalSeed, durationMs } = slice;
    const { timesMs, rate } = this.job;
    const { own, turns } = this.schedule;
    const gapMs = timesMs === null ? 1000 / /** @type {number} */ (rate) : durationMs / timesMs.length;
    if (durationMs > 0) {
      this.watchBacklog();
    }
    this.pacer.start((gapMs * turns) / own, arrivalSeed === null && timesMs === null);
    return over;
  }

  /**
   * Sends all that is due, as far as there are connections; the rest follows as they become free.
   *
   * @returns {number} when the next request is due
   */
  advance() {
    if (this.finished) {
      return Infinity; // the metronome woke it before it was set to rest
    }
    const now = nowMs();
    while (this.due(this.noticed) <= now) {
      this.noticed++;
    }
    this.send();
    return this.due(this.noticed);
  }

  /** Records by how much outstanding requests grow over the measured part of a slice. */
  watchBacklog() {
    let before = 0;
    const outstanding = () => this.inFlight + this.noticed - this.next;
    const now = nowMs();
    setTimeout(() => (before = outstanding()), this.fromMs - now);
    const growth = () => {
      if (this.growth === growth) {
        this.growth = undefined;
        this.recorder.backlog.push(outstanding() - before);
      }
    };
    this.growth = growth;
    setTimeout(growth, this.endMs - now);
  }

  placeOf(/** @type {number} */ i) {
    return this.first + this.schedule.place(i);
  }

  due(/** @type {number} */ i) {
    return this.startMs + this.schedule.dueMs(i);
  }

  /** Hands the requests that are due to connections, in their order: to idle ones, then to new ones. */
  send() {
    while (this.next < this.noticed) {
      const exchange = this.exchangeAt(this.placeOf(this.next));
      const connection = this.takeIdle(exchange) ?? this.another();
      if (connection === undefined) {
        return;
      }
      const due = this.due(this.next);
      if (this.next >= this.waiting && this.recorder.counts(due)) {
        this.recorder.pacingLag.record(nowMs() - due);
      }
      this.next++;
      this.inFlight++;
      connection.send(exchange, due);
    }
  }

  /**
   * Another connection, unless all are busy or enough were opened in this turn of the event loop. Opening takes the
   * generator far longer than sending: were it to open one for each request that is delayed, it would fall behind
   * further. In the next turn some will have become idle.
   */
  another() {
    if (this.pool?.isOpenLoop) {
      return this.open(); // nothing is opened
    }
    if (this.full) {
      const now = nowMs();
      for (let i = Math.max(this.waiting, this.next); i < this.noticed; i++) {
        if (this.recorder.counts(this.due(i))) {
          this.recorder.pacingLag.record(now - this.due(i));
          this.recorder.waited++;
        }
      }
      this.waiting = this.noticed;
      return undefined;
    }
    if (this.opened === 0) {
      setImmediate(() => this.nextTurn());
    }
    if (this.opened === OPENED_PER_TURN) {
      return undefined;
    }
    this.opened++;
    return this.open();
  }

  nextTurn() {
    this.opened = 0;
    if (!this.finished) {
      this.send();
    }
  }

  onFree() {
    if (this.finished) {
      return;
    }
    this.pacer.setDue(this.advance()); // awake anyway: no need to wait for the metronome
    if (this.isDone() && nowMs() >= this.endMs) {
      this.finish(nowMs());
    }
  }

  isSent() {
    return super.isSent() && this.next === this.schedule.count;
  }

  countPlanned(/** @type {number} */ now) {
    for (let i = 0; i < this.noticed || this.due(i) <= now; i++) {
      const due = this.due(i);
      if (this.recorder.counts(due)) {
        this.exchangeAt(this.placeOf(i)).planned++;
        if (i >= this.next) {
          this.recorder.failed.record(now - due); // due, and never handed to a connection
        }
      }
    }
    this.first += this.schedule.whole;
  }

  finish(/** @type {number} */ now) {
    if (now >= this.endMs) {
      this.growth?.(); // a busy machine's timers are late
    }
    this.growth = undefined;
    this.pacer.rest();
    super.finish(now);
  }

  close() {
    const measured = super.close();
    this.pacer.stop();
    return measured;
  }
}
