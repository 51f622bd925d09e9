// A server in this process that immediately sends correct answers in the dialect `plain`, for warm-ups. It checks as
// little as possible, and all its receivers are in the same room.

import { serve } from '../loopback.js';
import { CLOSE, TEXT } from './frames.js';
import { acceptOf } from './handshake.js';
import { serverFrame } from './write_frame.js';

/** @import { Socket } from 'node:net' */
/** @import { AnsweringServer, Job } from '../types.ts' */

const JOINED = serverFrame(TEXT, Buffer.from('joined'));
const OK = serverFrame(TEXT, Buffer.from('ok'));
const PREFIX = '/ws/';
const HEADER = 6; // bytes of a short client frame's header

/**
 * @param {Job} job the job to warm up for
 * @returns {Promise<AnsweringServer>}
 */
export async function answering({ conversation }) {
  /** @type {Set<Socket>} */
  const receivers = new Set();
  const server = await serve((socket) => new Session(socket, receivers));
  if (!conversation) {
    return server;
  }
  const does = conversation.does === 'idle' ? 'echo' : conversation.does; // idle connections send nothing
  const audience = { receivers: does === 'broadcast' ? 4 : 0, rooms: 1, steps: 1 };
  return { ...server, conversation: { ...conversation, ...audience, does, dialect: 'plain', prefix: PREFIX, size: 64 } };
}

/** The server's side of one WebSocket. */
class Session {
  /** @type {Buffer} */
  rest = Buffer.alloc(0);
  endpoint = ''; // empty until the handshake

  /** @param {Socket} socket @param {Set<Socket>} receivers */
  constructor(socket, receivers) {
    this.socket = socket;
    this.receivers = receivers;
    socket.on('data', (data) => this.read(Buffer.concat([this.rest, data])));
    socket.on('close', () => receivers.delete(socket));
  }

  read(/** @type {Buffer} */ data) {
    let at = 0;
    if (this.endpoint === '') {
      this.open(data.toString('latin1')); // the client sends its first frame after the answer
      at = data.length;
    }
    while (at + HEADER <= data.length && at + HEADER + (data[at + 1] & 0x7f) <= data.length) {
      const start = at + HEADER;
      const end = start + (data[at + 1] & 0x7f);
      for (let k = start; k < end; k++) {
        data[k] ^= data[start - 4 + ((k - start) & 3)];
      }
      this.answer(data[at] & 0x0f, data.subarray(start, end));
      at = end;
    }
    this.rest = data.subarray(at);
  }

  open(/** @type {string} */ head) {
    const key = /\r\nSec-WebSocket-Key: (.*)/i.exec(head)?.[1] ?? '';
    this.endpoint = head.slice(`GET ${PREFIX}`.length).split('/', 1)[0];
    const accept = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf(key)}`;
    this.socket.write(`HTTP/1.1 101 Switching Protocols\r\n${accept}\r\n\r\n`);
    if (this.endpoint === 'rooms') {
      this.receivers.add(this.socket);
      this.socket.write(JOINED);
    }
  }

  /** @param {number} opcode @param {Buffer} payload */
  answer(opcode, payload) {
    if (opcode === CLOSE) {
      this.socket.end(serverFrame(CLOSE, payload));
    } else if (this.endpoint === 'echo') {
      this.socket.write(serverFrame(opcode, payload));
    } else {
      const message = serverFrame(TEXT, payload);
      for (const receiver of this.receivers) {
        receiver.write(message);
      }
      this.socket.write(OK);
    }
  }
}
