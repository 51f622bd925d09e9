// Counts and histograms of one process. Times come in as milliseconds of nowMs.

import { Times } from './times.js';

/** @import { Deliveries } from './deliveries.js' */
/** @import { ErrorKind, Measured, Second, Share } from './job.js' */

/** Counts and response times of one of the requests of a load. */
export class Tally {
  constructor() {
    this.planned = 0;
    this.sent = 0;
    this.completed = 0;
    this.ok = 0;
    /** @type {Partial<Record<ErrorKind, number>>} */
    this.errors = {};
    this.responseTime = new Times();
  }

  /** @returns {Share} */
  share() {
    const { planned, sent, completed, ok, errors } = this;
    return { planned, sent, completed, ok, errors, response_time: this.responseTime.spread() };
  }
}

export class Recorder {
  /**
   * @param {(second: Second) => void} onSecond told of each second that is over
   * @param {Tally[]} tallies one for each request of the load
   */
  constructor(onSecond, tallies) {
    this.onSecond = onSecond;
    this.tallies = tallies;
    this.sent = 0;
    this.completed = 0;
    this.ok = 0;
    this.okInTime = 0;
    this.answeredMs = 0; // from answer to answer, how long it took to give those in time
    this.lastBeforeMs = 0;
    this.lastInTimeMs = 0;
    /** @type {number[]} */
    this.backlog = [];
    this.billed = 0;
    this.waited = 0;
    this.durationMs = 0;
    this.silentMs = 0; // of that, what went by until an answer could be there at all
    this.answersYet = false; // in this slice
    /** @type {Partial<Record<ErrorKind, number>>} */
    this.errors = {};
    /** @type {Partial<Record<ErrorKind, string>>} */
    this.examples = {};
    this.serviceTime = new Times();
    this.sendLag = new Times();
    this.pacingLag = new Times();
    this.failed = new Times();
    /** @type {Deliveries | null} */
    this.deliveries = null; // unless the protocol has receivers

    this.startMs = 0;
    this.fromMs = 0;
    this.endMs = Infinity;
    this.secondEndMs = Infinity;
    this.second = fresh(0);
    this.secondTimes = new Times(2);
  }

  /**
   * What is measured next: the requests that are due from one moment on, until another.
   *
   * @param {number} startMs when the first is sent, to settle
   * @param {number} fromMs
   * @param {number} endMs
   */
  start(startMs, fromMs, endMs) {
    this.startMs = startMs;
    this.fromMs = fromMs;
    this.endMs = endMs;
    this.answersYet = false;
    this.lastBeforeMs = startMs;
    this.lastInTimeMs = 0;
    const into = this.durationMs % 1000; // slices may be parts of a second
    this.second.t = (this.durationMs - into) / 1000;
    this.secondEndMs = fromMs + 1000 - into;
  }

  /**
   * The end of that, at `now`, for whatever reason.
   *
   * @param {number} now
   */
  end(now) {
    const measuredMs = Math.max(0, Math.min(now, this.endMs) - this.fromMs);
    this.durationMs += measuredMs;
    this.answeredMs += this.lastInTimeMs > 0 ? this.lastInTimeMs - this.lastBeforeMs : measuredMs;
    if (this.measures) {
      this.roll(now);
      const { sent, completed, errors } = this.second;
      if (sent + completed + errors > 0) {
        this.handOut();
      }
    }
    this.secondEndMs = Infinity;
  }

  /** Whether there is anything to measure: not while it only warms up. */
  get measures() {
    return this.endMs > this.fromMs;
  }

  /**
   * A request was put on the wire.
   *
   * @param {Tally} tally of that request
   * @param {number} intended
   * @param {number} at
   */
  wasSent(tally, intended, at) {
    if (!this.counts(intended)) {
      return;
    }
    this.roll(at);
    this.sent++;
    tally.sent++;
    this.second.sent++;
    this.sendLag.record(at - intended);
  }

  /**
   * It was answered as it should be.
   *
   * @param {Tally} tally
   * @param {number} intended
   * @param {number} sentAt
   * @param {number} at
   * @param {string | number} how it was answered, in a word: the status
   */
  wasOk(tally, intended, sentAt, at, how = 'ok') {
    if (this.measures) {
      this.answers(at - intended);
      this.billed++;
      if (at < this.fromMs) {
        this.lastBeforeMs = at;
      } else if (at <= this.endMs) {
        this.okInTime++;
        this.lastInTimeMs = at;
      }
    }
    if (!this.counts(intended)) {
      return;
    }
    this.roll(at);
    this.completed++;
    this.ok++;
    tally.completed++;
    tally.ok++;
    this.second.completed++;
    this.second.ok++;
    this.ends(how);
    tally.responseTime.record(at - intended);
    this.serviceTime.record(at - sentAt);
    this.secondTimes.record(at - intended);
  }

  /**
   * It failed; `answered` where the server did answer, but wrongly.
   *
   * @param {Tally} tally
   * @param {ErrorKind} kind
   * @param {boolean} answered
   * @param {number} intended
   * @param {number} at
   * @param {string} text
   * @param {string | number} how it ended, in a word: the status, where it was answered with another
   */
  wasError(tally, kind, answered, intended, at, text, how = kind) {
    if (!this.counts(intended)) {
      return;
    }
    this.roll(at);
    if (answered) {
      this.completed++;
      tally.completed++;
      this.second.completed++;
    }
    this.second.errors++;
    this.ends(how);
    this.errors[kind] = (this.errors[kind] ?? 0) + 1;
    tally.errors[kind] = (tally.errors[kind] ?? 0) + 1;
    this.examples[kind] ??= text;
    this.failed.record(at - intended);
  }

  /**
   * The first answer of a slice says from when on there could be any: one that takes a second is none of the first
   * second's, and what is answered per second is not to be less by that.
   *
   * @param {number} tookMs
   */
  answers(tookMs) {
    if (!this.answersYet) {
      this.answersYet = true;
      this.silentMs += Math.min(Math.max(0, this.startMs + tookMs - this.fromMs), this.endMs - this.fromMs);
    }
  }

  /** @param {string | number} how */
  ends(how) {
    this.second.ends[how] = (this.second.ends[how] ?? 0) + 1;
  }

  /** Whether a request that is due then is one of those that are measured. */
  counts(/** @type {number} */ intended) {
    return intended >= this.fromMs && this.measures;
  }

  /**
   * Hands out the seconds that are over at `now`; those in which nothing was seen (the generator was frozen) too.
   *
   * @param {number} now
   */
  roll(now) {
    while (now >= this.secondEndMs) {
      this.handOut();
      this.secondEndMs += 1000;
    }
  }

  handOut() {
    this.onSecond({ ...this.second, hdr: this.secondTimes.encoded() });
    this.second = fresh(this.second.t + 1);
    this.secondTimes.histogram.reset();
  }

  /**
   * Answers per second while it was measured.
   *
   * A closed loop has as many under way all the time, so what it answers is counted from an answer to an answer: cut at
   * the edges of a slice, a count is off by up to one answer (or one round of them), and by the same in every slice. At
   * a fixed rate they are those of the slice, from when on the first could be there.
   *
   * @param {boolean} closed
   */
  rate(closed) {
    const elapsedMs = closed ? this.answeredMs : this.durationMs - this.silentMs;
    return elapsedMs > 0 ? (this.okInTime * 1000) / elapsedMs : 0;
  }

  /**
   * @param {boolean} closed whether it was a closed loop
   * @returns {Measured}
   */
  measured(closed) {
    const planned = this.tallies.reduce((sum, tally) => sum + tally.planned, 0);
    const responseTime = new Times();
    this.tallies.forEach((tally) => responseTime.add(tally.responseTime));
    const failures = Object.values(this.errors).reduce((sum, count) => sum + count, 0);
    return {
      planned,
      sent: this.sent,
      completed: this.completed,
      ok: this.ok,
      rate: this.rate(closed),
      backlog: this.backlog,
      billed: this.billed,
      unfinished: planned - this.ok - failures,
      waited: this.waited,
      errors: this.errors,
      examples: this.examples,
      duration_s: this.durationMs / 1000,
      spreads: {
        response_time: responseTime.spread(),
        service_time: this.serviceTime.spread(),
        send_lag: this.sendLag.spread(),
        pacing_lag: this.pacingLag.spread(),
        failed: this.failed.spread(),
      },
      requests: this.tallies.map((tally) => tally.share()),
      deliveries: this.deliveries?.measured() ?? null,
      connections: null, // whoever holds some adds them
      own_ms: null,
    };
  }
}

/**
 * A second in which nothing has happened yet.
 *
 * @param {number} t
 * @returns {Omit<Second, 'hdr'>}
 */
function fresh(t) {
  return { t, sent: 0, completed: 0, ok: 0, errors: 0, ends: {} };
}
