// A server in this process that immediately sends correct answers in the dialect `plain`, for warm-ups and ceilings. It
// checks as little as possible.

import { serve } from '../loopback.js';
import { CLOSE, TEXT } from './frames.js';
import { acceptOf } from './handshake.js';
import { serverFrame } from './write_frame.js';

/** @import { Socket } from 'node:net' */
/** @import { AnsweringServer, Job } from '../types.ts' */

const NOTHING = Buffer.alloc(0);
const JOINED = serverFrame(TEXT, Buffer.from('joined'));
const OK = serverFrame(TEXT, Buffer.from('ok'));
const PREFIX = '/ws/';

/**
 * @param {Job} job the job to warm up for
 * @returns {Promise<AnsweringServer>}
 */
export async function answering({ conversation }) {
  /** @type {Map<string, Set<Socket>>} */
  const rooms = new Map();
  const server = await serve((socket) => new Session(socket, rooms));
  if (!conversation) {
    return server;
  }
  const does = conversation.does === 'idle' ? 'echo' : conversation.does; // idle connections send nothing
  const receivers = does === 'broadcast' ? 4 : 0;
  const plain = { does, dialect: 'plain', prefix: PREFIX, receivers, rooms: 1, shared: false, steps: 1, compression: false };
  return { ...server, conversation: { ...conversation, ...plain } };
}

/** The server's side of one WebSocket. */
class Session {
  /** @type {Buffer} */
  rest = NOTHING;
  opened = false;
  endpoint = '';
  /** @type {Set<Socket>} */
  room = new Set();

  /** @param {Socket} socket @param {Map<string, Set<Socket>>} rooms */
  constructor(socket, rooms) {
    this.socket = socket;
    this.rooms = rooms;
    socket.on('data', (data) => this.read(this.rest.length > 0 ? Buffer.concat([this.rest, data]) : data));
    socket.on('close', () => this.room.delete(socket));
  }

  read(/** @type {Buffer} */ data) {
    let at = 0;
    if (!this.opened) {
      const end = data.indexOf('\r\n\r\n');
      if (end < 0) {
        this.rest = data;
        return;
      }
      this.open(data.toString('latin1', 0, end));
      at = end + 4;
    }
    for (let next = at; next >= 0; next = this.readFrame(data, at)) {
      at = next;
    }
    this.rest = at < data.length ? data.subarray(at) : NOTHING;
  }

  open(/** @type {string} */ head) {
    const key = /\r\nSec-WebSocket-Key: (.*)/i.exec(head)?.[1] ?? '';
    const [endpoint, room] = head.slice(`GET ${PREFIX}`.length, head.indexOf(' HTTP/')).split('/');
    this.opened = true;
    this.endpoint = endpoint;
    const accept = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf(key)}`;
    this.socket.write(`HTTP/1.1 101 Switching Protocols\r\n${accept}\r\n\r\n`);
    if (endpoint !== 'echo') {
      this.room = this.rooms.get(room) ?? new Set();
      this.rooms.set(room, this.room);
    }
    if (endpoint === 'rooms') {
      this.room.add(this.socket);
      this.socket.write(JOINED);
    }
  }

  /**
   * Read a frame if it is complete.
   *
   * @param {Buffer} data
   * @param {number} at
   * @returns {number} its end, or -1 if it is incomplete
   */
  readFrame(data, at) {
    const short = (data[at + 1] ?? 0) & 0x7f;
    const header = short < 126 ? 6 : short === 126 ? 8 : 14;
    if (data.length < at + header) {
      return -1;
    }
    const length = short < 126 ? short : short === 126 ? data.readUInt16BE(at + 2) : data.readUInt32BE(at + 6);
    const start = at + header;
    const end = start + length;
    if (data.length < end) {
      return -1;
    }
    const key = data.readUInt32BE(start - 4);
    for (let k = start; key !== 0 && k < end; k++) {
      data[k] ^= data[start - 4 + ((k - start) & 3)];
    }
    this.answer(data[at] & 0x0f, data.subarray(start, end));
    return end;
  }

  /** @param {number} opcode @param {Buffer} payload */
  answer(opcode, payload) {
    if (opcode === CLOSE) {
      this.socket.end(serverFrame(CLOSE, payload));
    } else if (this.endpoint === 'echo') {
      this.socket.write(serverFrame(opcode, payload));
    } else {
      const message = serverFrame(TEXT, payload);
      for (const receiver of this.room) {
        receiver.write(message);
      }
      this.socket.write(OK);
    }
  }
}
