// Generate a load with the npm package `loadtest`, which the test of 2016 used.
//
// The package measures whole milliseconds from the actual send. This module removes failures from the package's
// figures, because the package would count the latency of a 503 like the latency of a successful answer.

import http from 'node:http';
import https from 'node:https';

import { nowMs } from './clock.js';
import { Exchange, Recorder } from './recorder.js';
import { evenMoments } from './schedule.js';

/** @import { ErrorKind, Job, OnSecond, Running, Slice } from './types.ts' */

/** @typedef {{statusCode: number, body: string, requestElapsed: number}} Answer of the package; whole milliseconds */

/** @implements {Running} */
export class Loadtest {
  exchange = new Exchange();
  stop = () => {};

  /** @param {Job} job @param {OnSecond} onSecond */
  constructor(job, onSecond) {
    this.job = job;
    this.request = job.requests[0]; // the package can only send one kind of request
    this.recorder = new Recorder(onSecond, [this.exchange]);
    const { expectBody } = this.request;
    this.expectBody = expectBody === null ? null : Buffer.from(expectBody, 'base64').toString();
  }

  async ready() {
    this.package = await import('loadtest');
  }

  /**
   * Run a slice. The package closes its connections at the end of each load, so the warm-up is a separate slice.
   *
   * @param {Slice} slice with either settleMs or durationMs above 0
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
    const scheduled = this.job.rate === null ? 0 : evenMoments(this.job.rate, Math.max(0, now - start)).length;
    // The package may send one request more than the rate times the duration.
    this.exchange.planned = this.recorder.measures ? Math.max(scheduled, this.exchange.sent) : 0;
    this.recorder.end(now);
    return false; // the package doesn't wait for answers
  }

  load(/** @type {number} */ lastsMs) {
    const { request, job } = this;
    // Untyped, because the package's declarations are for an older version.
    const { loadTest } = /** @type {any} */ (this.package);
    const names = request.headers.filter((_, at) => at % 2 === 0);
    return loadTest({
      url: job.origin + request.path,
      headers: Object.fromEntries(names.map((name, at) => [name, request.headers[2 * at + 1]])),
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
   * Send a request as the package does, and count the request.
   *
   * @param {unknown} _options
   * @param {http.RequestOptions} params
   * @param {unknown} _request
   * @param {(response: http.IncomingMessage) => void} callback
   */
  send(_options, params, _request, callback) {
    if (this.recorder.measures) {
      this.recorder.second.sent++;
      this.exchange.sent++;
    }
    return (params.protocol === 'https:' ? https : http).request(params, callback);
  }

  /** @param {string | null} error @param {Answer | undefined} answer */
  finished(error, answer) {
    if (!this.recorder.measures) {
      return;
    }
    const now = nowMs();
    if (answer === undefined || answer === null) {
      const failure = { kind: kindOf(String(error)), text: String(error) };
      this.recorder.wasError(this.exchange, failure, now, now);
      return;
    }
    const sentAt = now - answer.requestElapsed;
    /** @type {(kind: ErrorKind, text: string) => void} */
    const failed = (kind, text) => this.recorder.wasError(this.exchange, { kind, answered: true, text }, sentAt, now);
    if (answer.statusCode !== this.request.status) {
      failed('status', `status ${answer.statusCode} instead of ${this.request.status}`);
    } else if (this.expectBody !== null && answer.body !== this.expectBody) {
      failed('wrong-body', 'the answer has an unexpected body');
    } else {
      this.recorder.wasOk(this.exchange, sentAt, sentAt, now);
    }
  }

  close() {
    return this.recorder.measured(this.job.rate === null);
  }
}

/** @param {string} text @returns {ErrorKind} */
function kindOf(text) {
  if (text.includes('ECONNREFUSED')) {
    return 'refused';
  }
  if (text.includes('ECONNRESET') || text.includes('socket hang up') || text.includes('EPIPE')) {
    return 'reset';
  }
  return text.includes('timed out') || text.includes('ETIMEDOUT') ? 'timeout' : 'other';
}
