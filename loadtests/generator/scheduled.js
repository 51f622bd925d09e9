// Send requests according to a schedule: each send is due at a fixed time, independent of earlier requests.
//
// The load continues during a server's pause. A pause in a slice moves the slice's later edges (see sliceclock.js), and
// more sends at the same rate follow the schedule.

import { nowMs } from './clock.js';
import { Load } from './load.js';
import { Pacer } from './pacer.js';
import { Schedule, furtherMoments, scheduleOf } from './schedule.js';
import { SliceClock } from './sliceclock.js';

/** @import { Slice } from './types.ts' */

const OPENED_PER_TURN = 4;

export class Scheduled extends Load {
  first = 0; // the index of the slice's first send in the order of the whole load
  schedule = new Schedule([]);
  noticed = 0; // the index of the first request that wasn't due at the last check
  next = 0; // the index of the first request that hasn't been sent
  waiting = 0; // the index of the first request that wasn't yet counted as waiting for a connection
  plannedFromMs = 0; // the edges of the slice if the server doesn't pause
  plannedEndMs = 0;
  /** @type {Slice | null} */
  slice = null;
  opened = 0; // the number of connections that were opened in this turn of the event loop
  /** @type {number | null | undefined} */
  owedBefore; // outstanding requests at the start of the slice's measured part; null after its end
  pacer = new Pacer(() => this.advance());

  async ready() {
    await Promise.all([super.ready(), this.pacer.ready()]);
  }

  run(/** @type {Slice} */ slice) {
    this.schedule = scheduleOf(this.job, slice);
    this.noticed = this.next = this.waiting = 0;
    this.slice = slice;
    this.owedBefore = undefined;
    const over = super.run(slice);
    this.plannedFromMs = this.fromMs;
    this.plannedEndMs = this.endMs;
    const { arrivalSeed, durationMs } = slice;
    const { timesMs, rate } = this.job;
    const { own, turns } = this.schedule;
    const gapMs = timesMs === null ? 1000 / /** @type {number} */ (rate) : durationMs / timesMs.length;
    this.pacer.start((gapMs * turns) / own, arrivalSeed === null && timesMs === null);
    return over;
  }

  /**
   * Return the clock of a slice. Pauses don't extend a slice that has streams or deliveries, or a slice of a replay.
   */
  clockOf(/** @type {Slice} */ slice) {
    return new SliceClock(slice, this.job.answerMs, this.pool?.begin === undefined && this.job.timesMs === null);
  }

  /** Move future edges by the length of the pauses so far, and continue the schedule if it has ended. */
  follow(/** @type {number} */ now) {
    // An ended slice isn't extended, because the pacer rests and couldn't send more requests in time.
    if (!this.clock.moves || now >= this.endMs) {
      return;
    }
    const paused = Math.min(this.owed > 0 ? this.clock.pausedUntil(now) : this.clock.pausedMs, this.graceMs);
    if (now < this.plannedFromMs + paused && this.fromMs < this.plannedFromMs + paused) {
      this.fromMs = this.plannedFromMs + paused;
      this.recorder.measureFrom(this.fromMs);
    }
    if (now < this.plannedEndMs + paused) {
      this.endMs = this.recorder.endMs = this.plannedEndMs + paused;
      if (now >= this.plannedEndMs && this.schedule.isAsPlanned) {
        this.schedule.append(furtherMoments(this.job, /** @type {Slice} */ (this.slice)));
      }
    }
  }

  look(/** @type {number} */ now) {
    this.follow(now);
    this.watchBacklog(now);
    super.look(now);
  }

  /**
   * Send due requests while there are connections for them. The other due requests are sent when connections become
   * free.
   *
   * @returns {number} when the next request is due
   */
  advance() {
    if (this.finished) {
      return Infinity; // the metronome woke the loop before it was stopped
    }
    const now = nowMs();
    this.follow(now);
    this.watchBacklog(now);
    while (this.due(this.noticed) <= now) {
      this.noticed++;
    }
    this.send();
    const next = this.startMs + this.schedule.dueMs(this.noticed);
    if (!this.clock.moves) {
      return next;
    }
    return now >= this.endMs ? Infinity : Math.min(next, Math.max(this.plannedEndMs, now + 1));
  }

  /** Record the growth of outstanding requests in the measured part of a slice. Call this method before each change. */
  watchBacklog(/** @type {number} */ now) {
    if (now >= this.fromMs && this.owedBefore === undefined) {
      this.owedBefore = this.owed;
    }
    if (now >= this.endMs && this.recorder.measures && typeof this.owedBefore === 'number') {
      this.recorder.backlog.push(this.owed - this.owedBefore);
      this.owedBefore = null;
    }
  }

  get owed() {
    return this.inFlight + this.noticed - this.next;
  }

  placeOf(/** @type {number} */ i) {
    return this.first + this.schedule.place(i);
  }

  due(/** @type {number} */ i) {
    const due = this.startMs + this.schedule.dueMs(i);
    return i < this.schedule.planned || due < this.endMs ? due : Infinity;
  }

  /** Send due requests in order, first over idle connections and then over new connections. */
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
      if (this.inFlight === 0) {
        this.clock.owesFrom(due);
      }
      this.next++;
      this.inFlight++;
      connection.send(exchange, due);
    }
  }

  /**
   * Return a new connection, or undefined if all connections are busy or enough were opened in this turn of the event
   * loop. The generator needs far longer to open a connection than to send a request. If the generator opened a
   * connection for each delayed request, the delays would grow. In the next turn, some connections will be idle.
   */
  another() {
    if (this.pool?.isOpenLoop) {
      return this.open();  // creates only a sender, because messages use the open connections of the pool
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
    this.pacer.setDue(this.advance()); // the loop is awake, so due requests don't wait for the metronome
    if (this.isDone() && nowMs() >= this.endMs) {
      this.finish(nowMs());
    }
  }

  isSent() {
    return super.isSent() && this.due(this.next) === Infinity;
  }

  noteEnd(/** @type {number} */ at, /** @type {number} */ intended) {
    super.noteEnd(at, intended);
    this.follow(at);
    this.watchBacklog(at);
  }

  countPlanned(/** @type {number} */ now) {
    for (let i = 0; i < this.noticed || this.due(i) <= now; i++) {
      const due = this.due(i);
      if (this.recorder.counts(due)) {
        this.exchangeAt(this.placeOf(i)).planned++;
        if (i >= this.next) {
          this.recorder.failed.record(now - due); // due requests that were never sent
        }
      }
    }
    this.first += this.schedule.whole;
  }

  finish(/** @type {number} */ now) {
    this.watchBacklog(now);
    this.owedBefore = null;
    this.pacer.rest();
    super.finish(now);
  }

  close() {
    const measured = super.close();
    this.pacer.stop();
    return measured;
  }
}
