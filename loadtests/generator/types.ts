// Types that several files share. The harness sends Job and Slice as JSON, and receives seconds and results (recorder.js).
// loadtests/records/result.py describes the fields of results, and loadtests/workload/conversation.py describes the
// fields of conversations.

import type { Deliveries } from './deliveries.js';
import type { Exchange } from './recorder.js';
import type { Client } from './websocket/client.js';
import type { ReceivingClient } from './websocket/clients.js';

/** A load. Its slices define when it runs. */
export interface Job {
  engine: 'openloop' | 'loadtest';
  protocol: string; // the name of a file in protocols/, without .js; `loadtest` only supports HTTP
  origin: string; // an address such as http://127.0.0.1:8000
  requests: Request[];
  order: string; // the index of the request for each send of all processes, repeated: a Uint16Array in base64
  timesMs: number[] | null; // in a replay, the due time of each send of all processes
  rate: number | null;  // requests per second of all processes; null for a closed loop, 0 for connections without sends
  connections: number; // connections of this process: the maximum at a fixed rate, or the number in a closed loop
  silent: number; // additional connections of this process that send nothing
  timeoutMs: number;
  listenMs: number;  // how long duplicate and stray messages count after the end of the last slice
  idleMs: number; // a connection that was idle for this time isn't used again
  answerMs: number; // the response time without load, or 0 if it isn't known
  index: number; // the index of this process, from 0
  processes: number;
  turns: number; // turns in which processes send: one for each room of a broadcast, otherwise one for each process
  keepAlive: boolean;
  conversation: Conversation | null; // null: HTTP
  streams: Streams[]; // for the protocol `events`
  ca: string | null; // trusted certificates in PEM format, or null for the system's certificates
  resumption: boolean; // whether new connections resume TLS sessions
  contract?: boolean; // a check before a load: failures quote the server's messages
  compileMs: number; // how long the engine sends in each way before the load, so that V8 compiles its code
}

/** Streams of events that are read while requests are sent. */
export interface Streams {
  request: Request;
  count: number; // simultaneous streams of this process
  events: number; // the number of events of each stream
  intervalMs: number; // the time from one event to the next
  pauseMs: number; // after its first event, a client reads nothing for this time
  leaveMs: number | null; // the time from a stream's due time until its client leaves; null if no client leaves early
  endings: Request | null;  // asks which of the views with a `note` have ended
}

/** A request and its expected answer. */
export interface Request {
  method: string;
  path: string;
  headers: string[]; // name, value, name, value, ...
  cookies?: string[]; // the Cookie headers of users who take turns
  body: string | null; // base64
  status: number;
  expectBody: string | null; // base64, or null if the body isn't checked
  closes: boolean;  // whether the request uses a separate connection
  ticket: string; // the request for $TICKET in the path, which a WebSocket or event stream sends first; or empty
}

/** The messages and connections of a load over WebSockets. */
export interface Conversation {
  does: 'connect' | 'idle' | 'echo' | 'broadcast';
  dialect: string; // the name of a file in dialects/, without .js
  token: string;  // the load's token; payloads of other loads have other tokens
  prefix: string; // the start of each handshake's path; if it is empty, handshakes use the request's path
  receivers: number; // the number of receivers in this process
  rooms: number; // the number of rooms of this process
  steps: number; // the number of steps in which idle connections are opened
  size: number; // the size of a payload in bytes
  script: Script | null; // for the dialect `script`
}

/** The user's own messages: see loadtests/workload/script.py. */
export interface Script {
  first: string[];
  ready: string; // the message after which a connection is ready; if it is empty, connections are ready immediately
  send: string;
  match: string;
  subprotocols: string[]; // the subprotocols that the handshake offers
}

/** A part of a load, with a start and a duration. Connections stay open between slices. */
export interface Slice {
  start: number; // the time in nowMs()
  settleMs: number;  // the time in which the server settles before the measured time
  durationMs: number; // 0 for a warm-up
  graceMs: number;  // the time for outstanding answers after the measured time
  arrivalSeed: number | null; // the seed of random arrivals; null for even arrivals
  settling: Part;
  measured: Part;
}

/** A slice's part of the schedule of all slices. The rate is exact over all slices, not rounded in each slice. */
export interface Part {
  fromMs: number;
  ofMs: number; // the length of the whole schedule
}

export type ErrorKind = 'status' | 'timeout' | 'refused' | 'reset' | 'wrong-body' | 'other';
export type ErrorCounts = Partial<Record<ErrorKind, number>>;

export interface Failure {
  kind: ErrorKind;
  answered?: boolean; // whether the server sent a wrong answer
  text: string;
}

/** A distribution of times. */
export interface Spread {
  hdr: string; // HDR histogram of microseconds, compressed V2, base64
  max_us: number;
  sum_us: number;
}

/** The deliveries of messages to receivers (see deliveries.js). */
export interface DeliveryCounts {
  expected: number;
  delivered: number;
  missing: number;
  duplicate: number;
  reordered: number;
  stray: number | null; // null if unknown
  in_time: number;
  backlog: number[]; // by slice
  messages: number;
  whole: number;
  lag: Spread;
  last: Spread;
  reading: Spread;
}

/** A room, its receivers, and the receivers that were open at the start of the slice. */
export interface Room {
  name: string;
  members: ReceivingClient[];
  present: ReceivingClient[];
}

/** The connections that are open for a whole load. */
export interface ConnectionCounts {
  requested: number;
  opened: number;
  refused: number;
  lost: number;
  opening: Spread;
  opened_in_s: number;
  sent_bytes: number;
  received_bytes: number;
  steps: number[];
  reason: string;
}

/** The results of event streams (see streams.js). The sum is begun = whole + broken + unanswered + cut + left. */
export interface StreamCounts {
  begun: number;
  whole: number;
  broken: number;
  unanswered: number;
  cut: number;
  answered: number;
  events: number;
  in_time: number;
  missing: number;
  most: number;
  first: Spread;
  delay: Spread;
  reading: Spread;
  reason: string;
  left: LeftCounts | null;
}

/** Clients that left during their streams, and the outcome of their views. */
export interface LeftCounts {
  clients: number;
  ended: number; // views that are known to have ended
  running: number;  // views that have started but not ended; the server doesn't report other views
  late: number;  // views that ran for longer than a second after their client left
  after: Spread; // the time until a view ended after its client left
}

export type OnSecond = (second: object) => void;

/** A load that main.js runs. */
export interface Running {
  ready(): Promise<void>;
  pool?: Pool | null; // the connections that are open for the whole load
  run(slice: Slice): Promise<boolean>;  // runs until all sends have ended; returns whether an answer is missing
  listen?(): Promise<void>;  // waits for duplicate and stray messages, as long as the job defines
  stop(): void; // ends the slice now
  close(): object; // the results of all slices
  ended?(): Promise<void>; // waits until the other side has also closed the connections
}

/** protocols/<name>.js exports an instance named `protocol`. The rest of openloop doesn't depend on the protocol. */
export interface Protocol {
  exchange(request: Request, job: Job): Exchange; // called once for each request of a job; prepares as much as possible
  connect(job: Job, owner: Owner, pool: Pool | null): Connection;  // the connection may open with its first send
  openPool?(job: Job): Promise<Pool | null>; // the load starts when the whole pool is open
  answering(job: Job): Promise<AnsweringServer>;
}

/**
 * A connection with one send at a time, which lasts from `send` to onOk or onFailed. The owner destroys the connection
 * after a timeout.
 */
export interface Connection {
  busy: boolean;
  exchange: Exchange; // the exchange of the last send, to which the times below also refer
  intended: number; // the intended time of the send, which the owner may set in onSent
  handedAt: number; // when `send` was called
  sentAt: number; // when the request was sent; 0 if it was not sent
  how?: string | number;  // the status of the answer, if the protocol has statuses
  send(exchange: Exchange, intended: number): void;
  destroy(): void;  // closes the connection and abandons the pending request, without notifying the owner
}

export interface Address {
  host: string;
  port: number;
}

/** Receives the parts of an answer. */
export interface AnswerHandler {
  onHead(status: number, head: string): void; // the status line and the headers
  onData(bytes: Buffer): void; // a part of the body
}

export interface Owner {
  counts(intended: number): boolean;  // whether requests that are due at this time are measured
  onSent(connection: Connection, at: number): void; // called once for each send, before its end
  onOk(connection: Connection, at: number): void;
  onFailed(connection: Connection, at: number, failure: Failure): void;
}

/** Connections that are open for the whole load: receivers, idle connections, and a protocol's sending connections. */
export interface Pool {
  deliveries: Deliveries | null; // the grace period also applies to missing deliveries; null without receivers
  roundRobin?: boolean; // whether all sending connections are opened at the start and used in turn
  isOpenLoop?: boolean;  // whether a connection may have several messages in flight
  closing?: number; // the number of connections that must end before the slice can end
  step?(): Promise<void>; // opens the next part of the pool
  reopen?(): Promise<void>; // opens lost connections again
  begin?(slice: Slice): void;
  end?(): void;
  measured?(): ConnectionCounts;
  streams?(): StreamCounts[];
  close(): void | Promise<void>;
}

/** A server in this process that immediately sends correct answers, for warm-ups and ceilings. */
export interface AnsweringServer {
  origin: string;
  request: Request;
  conversation?: Conversation | null;
  close(): void;
}

/** Receives some bytes of a buffer, which are valid only during the call. */
export type OnBytes = (data: Buffer, start: number, end: number) => void;
export type OnMessage = (data: Buffer, start: number, end: number, isText: boolean) => void;

export type Endpoint = 'echo' | 'rooms' | 'publish';  // the purpose of a WebSocket

/**
 * The messages in which a server wraps payloads. dialects/<name>.js exports an instance named `dialect`, which has no
 * state: `client.memory` stores the dialect's data about a WebSocket. The name of a room is unique. A client without a
 * room also has a unique name.
 */
export interface Dialect {
  subprotocols(conversation: Conversation): string[];
  path(conversation: Conversation, endpoint: Endpoint, room: string): string; // of the handshake
  onOpen(client: Client): void; // called after the handshake; calls `client.ready` once the client can receive
  onMessage(client: Client, data: Buffer, start: number, end: number): void;
  wrap(client: Client, payload: string): string;  // the ASCII message for a payload
  separates?(conversation: Conversation): boolean; // false if a receiver may also receive messages of other senders
}

/** The address of a WebSocket and the way to open it. */
export interface Target {
  origin: string;
  host: string;
  port: number;
  path: string;
  headers: string[]; // name, value, name, value, ...
  subprotocols: string[];
  ticket: string; // Request.ticket
  traffic: Traffic; // the counts of all WebSockets of a load
}

/** The number of bytes that were sent and received on the wire. */
export interface Traffic {
  sent: number;
  received: number;
}
