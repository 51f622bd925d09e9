// The shapes that several files share. What the harness sends (Job, Slice) and gets (Second, Measured) is JSON;
// loadtests/records/result.py explains the fields of results, loadtests/workload/conversation.py those of conversations.

import type { Deliveries } from './deliveries.js';
import type { Exchange } from './recorder.js';
import type { Client } from './websocket/client.js';
import type { Rooms } from './websocket/rooms.js';

/** A load, without its times. */
export interface Job {
  engine: 'openloop' | 'loadtest';
  protocol: string; // a file of protocols/, without its .js; `loadtest` speaks HTTP only
  origin: string; // such as http://127.0.0.1:8000
  requests: Request[];
  order: string; // the request (its index) of each send of all processes, repeated: Uint16Array in base64
  timesMs: number[] | null; // of a recording: when each send of all processes is due
  rate: number | null; // requests per second of all processes; null: closed loop; 0: nothing is sent
  connections: number; // of this process: the most at a fixed rate, all in a closed loop
  timeoutMs: number;
  listenMs: number; // after the end of the last slice, for what comes twice or astray
  idleMs: number; // an idle connection is closed from this side after this
  index: number; // of this process, from 0
  processes: number;
  turns: number; // that they take in sending: of a broadcast one for each room, else one each
  keepAlive: boolean;
  conversation: Conversation | null; // null: HTTP
  streams: Streams[]; // of the protocol `events`
  ca: string | null; // PEM; null: the system's
  resumption: boolean; // of TLS sessions
}

/** Streams of events that are read while requests are sent. */
export interface Streams {
  request: Request;
  count: number; // at once, of this process
  events: number; // of each
  intervalMs: number; // from one event to the next
  pauseMs: number; // after its first event a client reads nothing for so long
  leaveMs: number | null; // so long after it was due a client leaves; null: it stays until the end
  endings: Request | null; // tells whose views have ended, of those that were asked for with `note`
}

/** A request and its expected answer. */
export interface Request {
  method: string;
  path: string;
  headers: string[]; // name, value, name, value, ...
  body: string | null; // base64
  status: number;
  expectBody: string | null; // base64; null: not checked
  closes: boolean; // over a connection of its own
}

/** What is done over WebSockets. */
export interface Conversation {
  does: 'connect' | 'idle' | 'echo' | 'broadcast';
  dialect: string; // a file of dialects/, without its .js
  token: string; // of the load: no other load's payloads begin with it
  prefix: string; // of the paths of handshakes; empty: the path of the request
  receivers: number; // of this process
  rooms: number; // of this process, or, where they are shared, of all
  shared: boolean; // the receivers of a room are in all processes: see websocket/rooms.js
  steps: number; // in which idle connections are opened
  size: number; // bytes of a payload
  compression: boolean;
  masking: boolean;
  script: Script | null; // of the dialect `script`
}

/** The user's own messages: see loadtests/workload/script.py. */
export interface Script {
  first: string[];
  ready: string; // empty: ready at once
  send: string;
  match: string;
  subprotocols: string[]; // offered in the handshake
}

/** A stretch of time of a load; its connections stay open between slices. */
export interface Slice {
  start: number; // of nowMs
  settleMs: number; // not measured, before what is
  durationMs: number; // 0: a warm-up
  graceMs: number; // after it, for what is outstanding
  arrivalSeed: number | null; // of random arrivals; null: even ones
  settling: Part;
  measured: Part;
}

/** Where a slice is in the schedule of all slices: a rate is kept over all of them, not rounded in each. */
export interface Part {
  fromMs: number;
  ofMs: number; // the length of the whole schedule
}

export type ErrorKind = 'status' | 'timeout' | 'refused' | 'reset' | 'wrong-body' | 'other';
export type ErrorCounts = Partial<Record<ErrorKind, number>>;

export interface Failure {
  kind: ErrorKind;
  answered?: boolean; // the server did answer, but wrongly
  text: string;
}

/** A distribution of times. */
export interface Spread {
  hdr: string; // HDR histogram of microseconds, compressed V2, base64
  max_us: number;
  sum_us: number;
}

/** One measured second, or a part of it: short slices and late answers make several parts of one second. */
export interface Second {
  t: number; // seconds measured before it
  sent: number;
  completed: number;
  ok: number;
  errors: number;
  ends: Record<string, number>; // by status, `stale`, ErrorKind, or `ok` where there are no statuses
  hdr: string; // response times of those answered ok (`loadtest`: service times)
}

/** One of the requests of a load. */
export interface Share {
  planned: number;
  sent: number;
  completed: number;
  ok: number;
  errors: ErrorCounts;
  response_time: Spread;
}

/** Messages on their way to receivers: see deliveries.js. */
export interface DeliveryCounts {
  expected: number;
  delivered: number;
  missing: number;
  duplicate: number;
  reordered: number;
  stray: number | null; // null: not known
  in_time: number;
  backlog: number[]; // by slice
  messages: number;
  whole: number;
  of_messages: OfMessage[] | null; // where rooms are shared
  lag: Spread;
  last: Spread;
  reading: Spread;
}

/** A message to receivers of several processes: its stream, its number, and the microseconds until the last receiver here
 * had it; null: one never did. */
export type OfMessage = [stream: number, number: number, last: number | null];

/** A message that was sent: its stream, its number, and when it was due; null: it was not sent on. */
export type Sent = [stream: number, number: number, intended: number | null];

/** What a process has sent into rooms that others share; `all`: of this slice nothing more follows. */
export interface Sends {
  sends: Sent[];
  all: boolean;
}

/** Connections that are open for the whole of a load. */
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

/** What became of streams of events: begun = whole + broken + unanswered + cut + left. See
 * streams.js. */
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

/** Clients that left in the middle, and what became of their views. */
export interface LeftCounts {
  clients: number;
  ended: number; // views that are known to have ended
  running: number; // others that have begun; of the rest the server says nothing
  late: number; // of both, those that went on for longer than a second
  after: Spread; // from when the client left until its view had ended
}

/** TLS handshakes of connections that were opened for what is measured. */
export interface Handshakes {
  full: number;
  resumed: number;
}

/** The result of all slices. */
export interface Measured {
  planned: number;
  sent: number;
  completed: number;
  ok: number;
  rate: number;
  backlog: number[]; // by slice of a schedule: growth of outstanding requests over its measured part
  billed: number; // answered ok in measured slices, whenever they were sent
  unfinished: number;
  waited: number;
  errors: ErrorCounts;
  examples: Partial<Record<ErrorKind, string>>; // the first error's text
  duration_s: number;
  spreads: Record<'response_time' | 'service_time' | 'send_lag' | 'pacing_lag' | 'failed', Spread>;
  requests: Share[]; // in the order of Job.requests
  deliveries: DeliveryCounts | null;
  connections: ConnectionCounts | null;
  streams: StreamCounts[]; // in the order of Job.streams
  handshakes: Handshakes | null; // null: there was no TLS
  outage_ms: number | null; // null: there were too many requests
  answers_in_a_row: number | null; // on one connection of a closed loop, on average
  own_ms: Record<string, number | null> | null; // the engine's own figures
}

export type OnSecond = (second: Second) => void;
export type OnSends = (sends: Sends) => void;

/** A load that main.js runs. */
export interface Running {
  ready(): Promise<void>;
  step?(): Promise<void>; // opens the next part of the pool
  reopen?(): Promise<void>; // opens lost connections of the pool again
  run(slice: Slice): Promise<boolean>; // until all that was sent has its end; whether some was awaited in vain
  listen?(): Promise<void>; // for as long as the job says
  expect?(sends: Sends): void; // that another process has made
  stop(): void; // ends the slice now
  close(): Measured;
  ended?(): Promise<void>; // until the other side has closed the connections as well
}

/** protocols/<name>.js exports one as `protocol`; nothing else of openloop knows what is spoken. */
export interface Protocol {
  exchange(request: Request, job: Job): Exchange; // once for each of Job.requests: all that can be prepared is prepared
  connect(job: Job, owner: Owner, pool: Pool | null): Connection; // it need not be opened before something is sent
  openPool?(job: Job): Promise<Pool | null>; // the load starts when all of it is open
  answering(job: Job): Promise<AnsweringServer>;
}

/** One send at a time, from `send` to onOk or onFailed. Timeouts are the owner's, which destroys the connection. */
export interface Connection {
  busy: boolean;
  exchange: Exchange; // of the last send, as are the moments
  intended: number; // the owner may set it in onSent
  handedAt: number; // when `send` was called
  sentAt: number; // when it was put on the wire; 0: not yet
  how?: string | number; // the status of the answer, where there are statuses
  send(exchange: Exchange, intended: number): void;
  destroy(): void; // closes it and gives up what was sent; the owner is not called
}

export interface Address {
  host: string;
  port: number;
}

/** Receives the parts of an answer, and its end. */
export interface AnswerHandler {
  onHead(status: number, head: string): void; // the status line and the headers
  onData(bytes: Buffer): void; // a part of the body
  onComplete(): void;
  onError(error: Error): void;
}

export interface Owner {
  counts(intended: number): boolean; // whether what is due then is measured
  onSent(connection: Connection, at: number): void; // once for each send, before its end
  onOk(connection: Connection, at: number): void;
  onFailed(connection: Connection, at: number, failure: Failure): void;
}

/** Connections that are open for the whole of a load: receivers, idle ones, and those that a protocol sends on. */
export interface Pool {
  deliveries: Deliveries | null; // the grace period is for missing ones as well; null: no receivers
  roundRobin?: boolean; // all sending connections are opened at once and used in turn, not as few as will do
  isOpenLoop?: boolean; // any number may be under way: Job.connections are open, and each takes several
  closing?: number; // a slice does not end before these connections have
  step?(): Promise<void>;
  reopen?(): Promise<void>;
  begin?(slice: Slice): void;
  rooms?: Rooms;
  expect?(sends: Sends): void;
  end?(): void;
  measured?(): ConnectionCounts;
  streams?(): StreamCounts[];
  close(): void | Promise<void>;
}

/** A server in this process that answers at once and always well, for warm-ups and ceilings. */
export interface AnsweringServer {
  origin: string;
  request: Request;
  conversation?: Conversation | null;
  close(): void;
}

/** Some bytes of a buffer, good for the time of the call. */
export type OnBytes = (data: Buffer, start: number, end: number) => void;
export type OnMessage = (data: Buffer, start: number, end: number, isText: boolean) => void;

export type Endpoint = 'echo' | 'rooms' | 'publish'; // what a WebSocket is for

/**
 * What a server's own protocol puts around a payload. dialects/<name>.js exports one as `dialect`. It has no state: what it
 * must remember of a WebSocket is `client.memory`. A room's name is unique; a client in no room has a unique one as well.
 */
export interface Dialect {
  subprotocols(conversation: Conversation): string[];
  path(conversation: Conversation, endpoint: Endpoint, room: string): string; // of the handshake
  onOpen(client: Client): void; // after the handshake; calls `client.ready` once it can receive
  onMessage(client: Client, data: Buffer, start: number, end: number): void;
  wrap(client: Client, payload: string): string; // what is sent of a payload, in ASCII
  separates?(conversation: Conversation): boolean; // false: who gets a message of another sender may be meant to
}

/** Where a WebSocket leads and how it is opened. */
export interface Target {
  origin: string;
  host: string;
  port: number;
  path: string;
  headers: string[]; // name, value, name, value, ...
  subprotocols: string[];
  compression: boolean; // offered
  masking: boolean;
  traffic: Traffic; // of all WebSockets of a load
}

/** Bytes on the wire. */
export interface Traffic {
  sent: number;
  received: number;
}
