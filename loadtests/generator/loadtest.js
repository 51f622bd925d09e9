// The npm package `loadtest`, the tool of the 2016 test, through its API.
//
// What it measures is its own: whole milliseconds from the actual send. Requests are told apart here, for it would
// count the latency of a 503 as if it were an answer: only requests answered as expected enter its figures.

import http from 'node:http';
import https from 'node:https';

import { nowMs } from './clock.js';
import { Recorder, Tally } from './recorder.js';
import { Schedule } from './schedule.js';

/** @import { ErrorKind, Job, Measured, Running, Second, Slice } from './job.js' */

/**
 * @typedef {object} Answer what the package tells of an answer
 * @property {number} statusCode
 * @property {string} body
 * @property {number} requestElapsed whole milliseconds
 */

/** @implements {Running} */
export class Loadtest {
  /**
   * @param {Job} job
   * @param {(second: Second) => void} onSecond
   */
  constructor(job, onSecond) {
    this.job = job;
    this.asked = job.requests[0]; // it knows one only
    this.tally = new Tally();
    this.recorder = new Recorder(onSecond, [this.tally]);
    this.elapsed = new WholeMilliseconds();
    this.expectBody = utf8(this.asked.expectBody);
    /** @type {() => void} */
    this.stop = () => {};
  }

  async ready() {
    this.package = await import('loadtest');
  }

  /**
   * The package closes its connections at the end of each of its loads: what it sends to settle is one of its own, hence
   * a slice that is not measured.
   *
   * @param {Slice} slice with settleMs or durationMs, the other 0
   */
  async run({ start, settleMs, durationMs }) {
    const endMs = start + settleMs + durationMs;
    this.recorder.start(start, start + settleMs, endMs);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, start - nowMs())));
    const rolling = setInterval(() => this.recorder.roll(nowMs()), 50);
    const stopped = new Promise((resolve) => {
      this.stop = () => resolve(undefined);
    });
    await Promise.race([this.load(settleMs + durationMs), stopped]);
    clearInterval(rolling);
    const now = Math.min(nowMs(), endMs);
    const scheduled = this.job.rate === null ? 0 : new Schedule(this.job.rate, Math.max(0, now - start)).count;
    // It may send one more than the rate times the duration.
    this.tally.planned = this.recorder.measures ? Math.max(scheduled, this.tally.sent) : 0;
    this.recorder.end(now);
  }

  load(/** @type {number} */ lastsMs) {
    const { asked, job } = this;
    // Not typed: the package's declarations are those of an older version.
    const { loadTest } = /** @type {any} */ (this.package);
    const body = utf8(asked.body) ?? undefined;
    // It sets Content-Length after the request is made, hence never.
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const headers = byName(asked.headers);
    return loadTest({
      url: job.origin + asked.path,
      method: asked.method,
      headers: { ...headers, ...length },
      body,
      contentType: Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1],
      maxSeconds: lastsMs / 1000,
      timeout: job.timeoutMs,
      agentKeepAlive: job.keepAlive,
      ...(job.rate === null ? { concurrency: job.connections } : { requestsPerSecond: job.rate }),
      cores: 1,
      quiet: true,
      requestGenerator: this.send.bind(this),
      statusCallback: this.finished.bind(this),
    });
  }

  /**
   * Makes a request as the package would, and counts it.
   *
   * @param {unknown} _options
   * @param {http.RequestOptions} params
   * @param {unknown} _request
   * @param {(response: http.IncomingMessage) => void} callback
   */
  send(_options, params, _request, callback) {
    if (this.recorder.measures) {
      this.recorder.sent++;
      this.recorder.second.sent++;
      this.tally.sent++;
    }
    return (params.protocol === 'https:' ? https : http).request(params, callback);
  }

  /**
   * @param {string | null} error
   * @param {Answer | undefined} answer
   */
  finished(error, answer) {
    if (!this.recorder.measures) {
      return;
    }
    const now = nowMs();
    if (answer === undefined || answer === null) {
      this.recorder.wasError(this.tally, kindOf(String(error)), false, now, now, String(error));
    } else if (answer.statusCode !== this.asked.status) {
      const text = `status ${answer.statusCode} instead of ${this.asked.status}`;
      this.recorder.wasError(this.tally, 'status', true, now - answer.requestElapsed, now, text);
    } else if (this.expectBody !== null && answer.body !== this.expectBody) {
      const text = 'the body is not the expected one';
      this.recorder.wasError(this.tally, 'wrong-body', true, now - answer.requestElapsed, now, text);
    } else {
      this.recorder.wasOk(this.tally, now - answer.requestElapsed, now - answer.requestElapsed, now);
      this.elapsed.record(answer.requestElapsed);
    }
  }

  /** @returns {Measured} */
  close() {
    return { ...this.recorder.measured(this.job.rate === null), own_ms: this.elapsed.figures() };
  }
}

/** @param {string | null} base64 */
function utf8(base64) {
  return base64 === null ? null : Buffer.from(base64, 'base64').toString();
}

/**
 * Headers as Node takes them: those that repeat as a list.
 *
 * @param {string[]} pairs name, value, name, value, ...
 */
function byName(pairs) {
  /** @type {Record<string, string | string[]>} */
  const headers = {};
  for (let i = 0; i < pairs.length; i += 2) {
    const [name, value] = [pairs[i], pairs[i + 1]];
    headers[name] = Object.hasOwn(headers, name) ? [headers[name], value].flat() : value;
  }
  return headers;
}

/** Figures as the package makes them: the first whole millisecond with more than p percent at or below it. */
class WholeMilliseconds {
  constructor() {
    /** @type {Map<number, number>} */
    this.counts = new Map();
    this.count = 0;
    this.sum = 0;
  }

  /** @param {number} ms */
  record(ms) {
    this.counts.set(ms, (this.counts.get(ms) ?? 0) + 1);
    this.count++;
    this.sum += ms;
  }

  /** @returns {Record<string, number | null> | null} */
  figures() {
    if (this.count === 0) {
      return null;
    }
    const values = [...this.counts.keys()].sort((a, b) => a - b);
    /** @param {number} percent */
    const percentile = (percent) => {
      let counted = 0;
      for (const ms of values) {
        counted += this.counts.get(ms) ?? 0;
        if ((counted / this.count) * 100 > percent) {
          return ms;
        }
      }
      return null;
    };
    return {
      p50: percentile(50),
      p90: percentile(90),
      p95: percentile(95),
      p99: percentile(99),
      'p99.9': null,
      max: values[values.length - 1],
      mean: this.sum / this.count,
    };
  }
}

/**
 * @param {string} text
 * @returns {ErrorKind}
 */
function kindOf(text) {
  if (text.includes('ECONNREFUSED')) {
    return 'refused';
  }
  if (text.includes('ECONNRESET') || text.includes('socket hang up') || text.includes('EPIPE')) {
    return 'reset';
  }
  return text.includes('timed out') || text.includes('ETIMEDOUT') ? 'timeout' : 'other';
}
