// What the parent asks for, and the shapes of what it is told.

/**
 * @typedef {object} Job the first line on standard input
 * @property {'openloop' | 'loadtest'} engine
 * @property {string} url
 * @property {string} method
 * @property {Record<string, string>} headers
 * @property {string | null} body base64
 * @property {number} expectStatus
 * @property {string | null} expectBody base64; null: not checked
 * @property {number | null} rate requests per second of all processes together; null: closed loop
 * @property {number} connections of this process: at most so many at a fixed rate, exactly so many in a closed loop
 * @property {number} durationMs
 * @property {number} warmUpMs for how long to send the same load beforehand, unmeasured
 * @property {number} timeoutMs
 * @property {number} index which process this is, from 0
 * @property {number} of how many processes share the rate
 * @property {boolean} keepAlive
 */

/** @typedef {'status' | 'timeout' | 'refused' | 'reset' | 'wrong-body' | 'other'} ErrorKind */

/**
 * @typedef {object} Spread a distribution of times
 * @property {string} hdr HDR histogram of microseconds, compressed V2, base64
 * @property {number} max_us
 * @property {number} sum_us
 */

/**
 * @typedef {object} Second what happened in one second of the run
 * @property {number} t seconds after the start at which it began
 * @property {number} sent
 * @property {number} completed
 * @property {number} ok
 * @property {number} errors
 * @property {string} hdr response times (of `loadtest`: service times) of the requests answered well in it, as
 *   Spread.hdr
 */

/**
 * @typedef {object} Measured the last event of a run: see loadtests/engines/result.py for what each means
 * @property {number} planned
 * @property {number} sent
 * @property {number} completed
 * @property {number} ok
 * @property {number} ok_in_time answered well before the schedule's end
 * @property {number} unfinished
 * @property {number} waited
 * @property {Partial<Record<ErrorKind, number>>} errors
 * @property {Partial<Record<ErrorKind, string>>} examples the first error's text, by kind
 * @property {number} duration_s
 * @property {Record<'response_time' | 'service_time' | 'send_lag' | 'pacing_lag' | 'failed', Spread>} spreads
 * @property {Record<string, number | null> | null} own_ms figures that the engine made itself
 */

/**
 * A load that is running.
 *
 * @typedef {object} Running
 * @property {() => Promise<void>} ready resolves when start may be called
 * @property {(startMs: number) => Promise<Measured>} start startMs is of nowMs
 * @property {() => void} stop ends it now; start's promise then resolves
 */

export {};
