// Record the counts and histograms of one process. Times are milliseconds of nowMs().

import { Outage } from './outage.js';
import { Times } from './times.js';

/** @import { Deliveries } from './deliveries.js' */
/** @import { ErrorCounts, ErrorKind, Failure, OnSecond } from './types.ts' */

/** A request of a load, with its counts and response times. The protocols' subclasses add the data to send. */
export class Exchange {
  closes = false;  // whether the request uses a separate connection that closes after the answer
  planned = 0;
  sent = 0;
  completed = 0;
  ok = 0;
  /** @type {ErrorCounts} */
  errors = {};
  responseTime = new Times();

  share() {
    const { planned, sent, completed, ok, errors } = this;
    return { planned, sent, completed, ok, errors, response_time: this.responseTime.spread() };
  }
}

export class Recorder {
  okInTime = 0;
  answeredMs = 0; // in a closed loop, the time from the first edge of each slice to the last answer before its end
  lastBeforeMs = 0;
  lastInTimeMs = 0;
  /** @type {number[]} */
  backlog = [];
  billed = 0;
  waited = 0;
  durationMs = 0;
  silentMs = 0; // the part of durationMs before the first answer was possible
  // The time when the slice's first answer would have arrived if its request had been sent at the start, or 0 without
  // an answer.
  firstAnswerMs = 0;
  /** @type {Partial<Record<ErrorKind, string>>} */
  examples = {};
  serviceTime = new Times();
  sendLag = new Times();
  pacingLag = new Times();
  failed = new Times();
  outage = new Outage();
  /** @type {Deliveries | null} */
  deliveries = null;

  measures = false; // false in a warm-up
  startMs = 0;
  fromMs = 0;
  endMs = Infinity;
  secondEndMs = Infinity;
  second = emptySecond(0);
  secondTimes = new Times(2);

  /** @param {OnSecond} onSecond @param {Exchange[]} exchanges */
  constructor(onSecond, exchanges) {
    this.onSecond = onSecond;
    this.exchanges = exchanges;
  }

  /** Start a slice. Requests that are due from `fromMs` on are measured. */
  start(/** @type {number} */ startMs, /** @type {number} */ fromMs, /** @type {number} */ endMs) {
    this.measures = endMs > fromMs;
    this.startMs = startMs;
    this.endMs = endMs;
    this.firstAnswerMs = 0;
    this.lastBeforeMs = startMs;
    this.lastInTimeMs = 0;
    this.measureFrom(fromMs);
  }

  /** Move the start of the slice's measured part. */
  measureFrom(/** @type {number} */ fromMs) {
    this.fromMs = fromMs;
    const into = this.durationMs % 1000; // a slice can end within a second
    this.second.t = (this.durationMs - into) / 1000;
    this.secondEndMs = fromMs + 1000 - into;
  }

  /** End the slice. */
  end(/** @type {number} */ now) {
    const measuredMs = Math.max(0, Math.min(now, this.endMs) - this.fromMs);
    this.durationMs += measuredMs;
    if (this.firstAnswerMs > 0) {
      // No answer was possible before firstAnswerMs, so the time before it doesn't lower the rate.
      this.silentMs += Math.min(Math.max(0, this.firstAnswerMs - this.fromMs), measuredMs);
    }
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

  /** Return whether a request with this due time is measured. */
  counts(/** @type {number} */ intended) {
    return intended >= this.fromMs && this.measures;
  }

  /** Count a request that was sent. */
  wasSent(/** @type {Exchange} */ exchange, /** @type {number} */ intended, /** @type {number} */ at) {
    if (!this.counts(intended)) {
      return;
    }
    this.roll(at);
    exchange.sent++;
    this.second.sent++;
    this.sendLag.record(at - intended);
  }

  /**
   * Count a request that was answered as expected.
   *
   * @param {Exchange} exchange
   * @param {number} intended
   * @param {number} sentAt
   * @param {number} at
   * @param {string | number} how the status
   */
  wasOk(exchange, intended, sentAt, at, how = 'ok') {
    if (this.measures) {
      this.firstAnswerMs ||= this.startMs + at - intended;
      this.billed++;
      if (at <= this.fromMs) {
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
    exchange.completed++;
    exchange.ok++;
    this.second.completed++;
    this.second.ok++;
    this.countEnd(how);
    exchange.responseTime.record(at - intended);
    this.serviceTime.record(at - sentAt);
    this.secondTimes.record(at - intended);
    this.outage.add(intended, true);
  }

  /**
   * @param {Exchange} exchange
   * @param {Failure} failure
   * @param {number} intended
   * @param {number} at
   * @param {string | number} how the status, if it isn't the expected one
   */
  wasError(exchange, { kind, answered, text }, intended, at, how = kind) {
    if (!this.counts(intended)) {
      return;
    }
    this.roll(at);
    if (answered) {
      exchange.completed++;
      this.second.completed++;
    }
    this.second.errors++;
    this.countEnd(how);
    exchange.errors[kind] = (exchange.errors[kind] ?? 0) + 1;
    this.examples[kind] ??= text;
    this.failed.record(at - intended);
    this.outage.add(intended, false);
  }

  countEnd(/** @type {string | number} */ how) {
    this.second.ends[how] = (this.second.ends[how] ?? 0) + 1;
  }

  /** Report the seconds that have passed at `now`, including seconds without requests. */
  roll(/** @type {number} */ now) {
    while (now >= this.secondEndMs) {
      this.handOut();
      this.secondEndMs += 1000;
    }
  }

  handOut() {
    this.onSecond({ ...this.second, hdr: this.secondTimes.encoded() });
    this.second = emptySecond(this.second.t + 1);
    this.secondTimes.histogram.reset();
  }

  /**
   * Return the successful answers per second. In a closed loop, a slice starts and ends with an answer (closedloop.js).
   * The engine `loadtest` doesn't move the start and the end of a slice to answers, so the time of its slices ends with
   * the last answer.
   */
  rate(/** @type {boolean} */ closed) {
    const elapsedMs = closed ? this.answeredMs : this.durationMs - this.silentMs;
    return elapsedMs > 0 ? (this.okInTime * 1000) / elapsedMs : 0;
  }

  /** Return the results of all slices (see loadtests/engines/merge.py). `closed` is true for a closed loop. */
  measured(/** @type {boolean} */ closed) {
    return {
      rate: this.rate(closed),
      backlog: this.backlog,
      billed: this.billed,
      waited: this.waited,
      examples: this.examples,
      duration_s: this.durationMs / 1000,
      outage_ms: this.outage.longestMs(),
      spreads: {
        service_time: this.serviceTime.spread(),
        send_lag: this.sendLag.spread(),
        pacing_lag: this.pacingLag.spread(),
        failed: this.failed.spread(),
      },
      requests: this.exchanges.map((exchange) => exchange.share()),
      deliveries: this.deliveries?.measured() ?? null,
    };
  }
}

/**
 * Return a second in which nothing was counted yet. Short slices and late answers split a second into several parts.
 *
 * @param {number} t the number of measured seconds before this second
 */
function emptySecond(t) {
  /** @type {Record<string, number>} by status, `stale` or ErrorKind; if there are no statuses, `ok` */
  const ends = {};
  return { t, sent: 0, completed: 0, ok: 0, errors: 0, ends };
}
