// Counts and histograms of one process. Times come in as milliseconds of nowMs and are kept as whole microseconds.

import hdr from 'hdr-histogram-js';

/** @import { ErrorKind, Measured, Second, Spread } from './job.js' */

const HIGHEST_US = 3600e6; // an hour: no request waits longer

/**
 * An HDR histogram that also keeps the exact sum and maximum.
 */
export class Times {
  /** @param {1 | 2 | 3 | 4 | 5} digits decimal digits that are exact */
  constructor(digits = 3) {
    this.histogram = hdr.build({
      lowestDiscernibleValue: 1,
      highestTrackableValue: HIGHEST_US,
      numberOfSignificantValueDigits: digits,
      bitBucketSize: 32,
      useWebAssembly: false, // no faster: measured
    });
    this.sum = 0;
    this.max = 0;
  }

  /** @param {number} ms */
  record(ms) {
    const us = Math.min(Math.max(Math.round(ms * 1000), 0), HIGHEST_US);
    this.histogram.recordValue(us);
    this.sum += us;
    if (us > this.max) {
      this.max = us;
    }
  }

  /** @returns {Spread} */
  spread() {
    return { hdr: this.encoded(), max_us: this.max, sum_us: this.sum };
  }

  /** @returns {string} */
  encoded() {
    return hdr.encodeIntoCompressedBase64(this.histogram);
  }
}

export class Recorder {
  /** @param {(second: Second) => void} onSecond told of each second that is over */
  constructor(onSecond) {
    this.onSecond = onSecond;
    this.sent = 0;
    this.completed = 0;
    this.ok = 0;
    this.okInTime = 0;
    this.waited = 0;
    /** @type {Partial<Record<ErrorKind, number>>} */
    this.errors = {};
    /** @type {Partial<Record<ErrorKind, string>>} */
    this.examples = {};
    this.responseTime = new Times();
    this.serviceTime = new Times();
    this.sendLag = new Times();
    this.pacingLag = new Times();
    this.failed = new Times();

    this.startMs = 0;
    this.endMs = Infinity;
    this.secondEndMs = Infinity;
    this.second = { t: 0, sent: 0, completed: 0, ok: 0, errors: 0 };
    this.secondTimes = new Times(2);
  }

  /**
   * @param {number} startMs
   * @param {number} endMs when the schedule ends
   */
  start(startMs, endMs) {
    this.startMs = startMs;
    this.endMs = endMs;
    this.secondEndMs = startMs + 1000;
  }

  /**
   * A request was put on the wire.
   *
   * @param {number} intended
   * @param {number} at
   */
  wasSent(intended, at) {
    this.roll(at);
    this.sent++;
    this.second.sent++;
    this.sendLag.record(at - intended);
  }

  /**
   * It was answered as it should be.
   *
   * @param {number} intended
   * @param {number} sentAt
   * @param {number} at
   */
  wasOk(intended, sentAt, at) {
    this.roll(at);
    this.completed++;
    this.ok++;
    if (at <= this.endMs) {
      this.okInTime++;
    }
    this.second.completed++;
    this.second.ok++;
    this.responseTime.record(at - intended);
    this.serviceTime.record(at - sentAt);
    this.secondTimes.record(at - intended);
  }

  /**
   * It failed; `answered` where the server did answer, but wrongly.
   *
   * @param {ErrorKind} kind
   * @param {boolean} answered
   * @param {number} intended
   * @param {number} at
   * @param {string} text
   */
  wasError(kind, answered, intended, at, text) {
    this.roll(at);
    if (answered) {
      this.completed++;
      this.second.completed++;
    }
    this.second.errors++;
    this.errors[kind] = (this.errors[kind] ?? 0) + 1;
    this.examples[kind] ??= text;
    this.failed.record(at - intended);
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
    this.second = { t: this.second.t + 1, sent: 0, completed: 0, ok: 0, errors: 0 };
    this.secondTimes.histogram.reset();
  }

  /**
   * The end of it, at `now`.
   *
   * @param {number} now
   * @param {number} planned
   * @returns {Measured}
   */
  measured(now, planned) {
    this.roll(now);
    const { sent, completed, errors } = this.second;
    if (sent + completed + errors > 0) {
      this.handOut();
    }
    const failures = Object.values(this.errors).reduce((sum, count) => sum + count, 0);
    return {
      planned,
      sent: this.sent,
      completed: this.completed,
      ok: this.ok,
      ok_in_time: this.okInTime,
      unfinished: planned - this.ok - failures,
      waited: this.waited,
      errors: this.errors,
      examples: this.examples,
      duration_s: (Math.min(now, this.endMs) - this.startMs) / 1000,
      spreads: {
        response_time: this.responseTime.spread(),
        service_time: this.serviceTime.spread(),
        send_lag: this.sendLag.spread(),
        pacing_lag: this.pacingLag.spread(),
        failed: this.failed.spread(),
      },
      own_ms: null,
    };
  }
}
