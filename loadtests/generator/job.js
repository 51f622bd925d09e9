// What the parent asks for, and the shapes of what it is told.

/**
 * @typedef {object} Job a load, but for when it is made
 * @property {'openloop' | 'loadtest'} engine
 * @property {string} protocol a file of protocols/, without its .js; `loadtest` speaks HTTP only
 * @property {string} origin such as http://127.0.0.1:8000
 * @property {Asked[]} requests
 * @property {string} order which request (its index) each send of the whole load is for, of all processes together; it
 *   is gone through again and again. 16 bits each, in the machine's byte order, base64
 * @property {number[] | null} timesMs when each send of the whole load is due after the start, instead of by the rate
 * @property {number | null} rate requests per second of all processes together; null: closed loop; 0: nothing is sent
 * @property {number} connections of this process: at most so many at a fixed rate, exactly so many in a closed loop
 * @property {number} timeoutMs
 * @property {number} idleMs a connection on which nothing happens for so long is closed from this side
 * @property {number} index which process this is, from 0
 * @property {number} of how many processes share the rate
 * @property {boolean} keepAlive false: a connection for each send
 * @property {Conversation | null} conversation what is done over WebSockets; null with HTTP
 */

/**
 * What is done over WebSockets: see loadtests/workload/conversation.py for what each means.
 *
 * @typedef {object} Conversation
 * @property {'connect' | 'idle' | 'echo' | 'broadcast' | 'rejoin'} does
 * @property {string} dialect a file of dialects/, without its .js
 * @property {string} prefix of the paths of handshakes; empty: the path is that of the request
 * @property {number} receivers of this process
 * @property {number} rooms
 * @property {number} steps in which what idles is opened
 * @property {number} jitter_s before those that were lost come back
 * @property {number} publishes_per_s while they do
 * @property {number} size bytes of a payload
 * @property {boolean} compression
 * @property {boolean} masking
 * @property {Script | null} script what the dialect `script` says; null in another
 */

/**
 * What is said to an application of the user's: see loadtests/workload/script.py for what each means.
 *
 * @typedef {object} Script
 * @property {string[]} first
 * @property {string} ready empty: it is ready at once
 * @property {string} send
 * @property {string} match
 * @property {string} subprotocol empty: none
 */

/**
 * @typedef {object} Asked a request, and what it should be answered with
 * @property {string} method
 * @property {string} path
 * @property {string[]} headers name, value, name, value, ...
 * @property {string | null} body base64
 * @property {number} status
 * @property {string | null} expectBody base64; null: not checked
 */

/**
 * A stretch of time in which a load is made. A load may be made in several: its connections stay open in between.
 *
 * @typedef {object} Slice
 * @property {number} start of nowMs
 * @property {number} settleMs what is sent in the first so many milliseconds is not measured
 * @property {number} durationMs how long it is measured afterwards; 0: it only warms up
 * @property {number | null} arrivalSeed what the random moments of the rate are drawn by; null: they are even
 * @property {Part} settling of which schedule the settling is a part
 * @property {Part} measured of which schedule the rest is a part
 */

/**
 * A slice's part of a schedule of all slices together: a rate is kept over all of them, not rounded in each.
 *
 * @typedef {object} Part
 * @property {number} fromMs how much of the schedule goes before
 * @property {number} ofMs how long the whole schedule is
 */

/** @typedef {'status' | 'timeout' | 'refused' | 'reset' | 'wrong-body' | 'other'} ErrorKind */

/**
 * @typedef {object} Spread a distribution of times
 * @property {string} hdr HDR histogram of microseconds, compressed V2, base64
 * @property {number} max_us
 * @property {number} sum_us
 */

/**
 * @typedef {object} Second what happened in one second of what was measured, or in a part of it: there are several of one
 *   second where slices are shorter, and where the answers to the end of a slice come while the next second is not begun
 * @property {number} t seconds measured before it
 * @property {number} sent
 * @property {number} completed
 * @property {number} ok
 * @property {number} errors
 * @property {Record<string, number>} ends how those that ended in it did, in a word each: the status of the answer,
 *   `stale` for one that says it is a stale copy, an ErrorKind, or `ok` where the protocol has no statuses
 * @property {string} hdr response times (of `loadtest`: service times) of the requests answered well in it, as
 *   Spread.hdr
 */

/**
 * @typedef {object} Share what became of one of the requests, as Measured says it of all
 * @property {number} planned
 * @property {number} sent
 * @property {number} completed
 * @property {number} ok
 * @property {Partial<Record<ErrorKind, number>>} errors
 * @property {Spread} response_time
 */

/**
 * @typedef {object} Delivered what became of messages on their way to receivers: see deliveries.js
 * @property {number} expected delivered + missing
 * @property {number} delivered
 * @property {number} missing
 * @property {number} duplicate
 * @property {number} reordered
 * @property {number} stray came to a receiver that they were not meant for
 * @property {number} in_time came while it was measured, also of what was sent before, while it settled
 * @property {number[]} backlog for each slice, by how many at least those under way became more; below 0 where they wavered
 * @property {number} messages that were meant for receivers, told apart from what comes back
 * @property {number} whole those of them that all of their receivers have
 * @property {Spread} lag arrival at a receiver minus intended send
 * @property {Spread} last of those that are whole: arrival at the last of its receivers minus intended send
 * @property {Spread} reading how long what arrived may have lain in the generator: see reading.js
 */

/**
 * @typedef {object} HeldOpen what became of connections that were to be held open: see Connections of
 *   loadtests/records/result.py
 * @property {number} wanted
 * @property {number} opened
 * @property {number} refused
 * @property {number} lost
 * @property {Spread} opening from asking for one to when it is ready
 * @property {number} opened_in_s
 * @property {number} sent_bytes
 * @property {number} received_bytes
 * @property {number[]} steps how many were open after each step
 * @property {Rejoined | null} rejoined null: none is to come back
 * @property {string} said
 */

/**
 * @typedef {object} Rejoined what became of receivers when the server was restarted: see loadtests/records/result.py
 * @property {number} lost
 * @property {number} back
 * @property {number | null} down_s
 * @property {number | null} all_back_s
 * @property {number} published
 * @property {number} unsent
 * @property {number} expected
 * @property {number} missed
 * @property {Spread} away from when one was lost until it was back, for good
 */

/**
 * @typedef {object} Measured what was measured in all slices: see loadtests/records/result.py for what each means
 * @property {number} planned
 * @property {number} sent
 * @property {number} completed
 * @property {number} ok
 * @property {number} rate answered well per second while it was measured, those among them that were sent while it settled
 * @property {number[]} backlog for each slice of a schedule, how many more had no end yet when its measured part ended than
 *   when it began
 * @property {number} billed answered well in all of the slices that were measured, whenever they were sent
 * @property {number} unfinished
 * @property {number} waited
 * @property {Partial<Record<ErrorKind, number>>} errors
 * @property {Partial<Record<ErrorKind, string>>} examples the first error's text, by kind
 * @property {number} duration_s
 * @property {Record<'response_time' | 'service_time' | 'send_lag' | 'pacing_lag' | 'failed', Spread>} spreads
 * @property {Share[]} requests in the order of Job.requests
 * @property {Delivered | null} deliveries null: there are no receivers, as with HTTP
 * @property {HeldOpen | null} connections null: none are held open for the whole of it, as with HTTP
 * @property {Record<string, number | null> | null} own_ms figures that the engine made itself
 */

/**
 * A load that is running.
 *
 * @typedef {object} Running
 * @property {() => Promise<void>} ready resolves when the first slice may begin
 * @property {() => Promise<void>} [step] opens the next part of what is held in steps
 * @property {() => Promise<void>} [mend] opens again what is held and was lost; to be waited for before each slice
 * @property {(slice: Slice) => Promise<void>} run resolves when the slice is over and all that was sent in it has its end
 * @property {() => void} stop ends the slice now
 * @property {() => Measured} close closes its connections
 * @property {() => Promise<void>} [ended] resolves when the other side has closed them too
 */

export {};
