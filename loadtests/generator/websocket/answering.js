// A server within a process that answers at once and always well, in the dialect `plain`: for the engine to warm up on,
// and to find how fast it is. It looks no closer than it must.

import { once } from 'node:events';
import { createServer } from 'node:net';

import { CLOSE, FIN, TEXT } from './frames.js';
import { acceptOf } from './handshake.js';

/** @import { AddressInfo, Socket } from 'node:net' */
/** @import { Job } from '../job.js' */
/** @import { Answering } from '../protocol.js' */

/** @typedef {import('../job.js').Conversation['does']} Does */

const NOTHING = Buffer.alloc(0);
const PREFIX = '/ws/';

/**
 * What is done in place of that to which there is nothing, or something only where a server is restarted.
 *
 * @type {Record<string, Does>}
 */
const INSTEAD = { idle: 'echo', rejoin: 'broadcast' };

/**
 * @param {Job} job what is warmed up for
 * @returns {Promise<Answering>}
 */
export async function answering(job) {
  /** @type {Map<string, Set<Socket>>} */
  const rooms = new Map();
  const server = createServer({ noDelay: true }, (socket) => new Client(socket, rooms));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  const { conversation } = job;
  const does = conversation && (INSTEAD[conversation.does] ?? conversation.does);
  return {
    origin: `http://127.0.0.1:${port}`,
    asked: { method: 'GET', path: '/', headers: [], body: null, status: 200, expectBody: null },
    conversation: conversation && {
      ...conversation,
      does: /** @type {Does} */ (does),
      dialect: 'plain',
      prefix: PREFIX,
      receivers: does === 'broadcast' ? 4 : 0,
      rooms: 1,
      steps: 1,
      compression: false,
    },
    close: () => server.close(),
  };
}

class Client {
  /**
   * @param {Socket} socket
   * @param {Map<string, Set<Socket>>} rooms
   */
  constructor(socket, rooms) {
    this.socket = socket;
    this.rooms = rooms;
    /** @type {Buffer} */
    this.rest = NOTHING;
    this.opened = false;
    this.endpoint = '';
    /** @type {Set<Socket>} */
    this.room = new Set();
    socket.on('data', (data) => this.read(this.rest.length > 0 ? Buffer.concat([this.rest, data]) : data));
    socket.on('error', () => {});
    socket.on('close', () => this.room.delete(socket));
  }

  /** @param {Buffer} data */
  read(data) {
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
    for (let next = at; next >= 0; next = this.take(data, at)) {
      at = next;
    }
    this.rest = at < data.length ? data.subarray(at) : NOTHING;
  }

  /** @param {string} head */
  open(head) {
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
      this.socket.write(framed(TEXT, Buffer.from('joined')));
    }
  }

  /**
   * Takes one frame; where that is not whole, none.
   *
   * @param {Buffer} data
   * @param {number} at
   * @returns {number} where it ends, or -1
   */
  take(data, at) {
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

  /**
   * @param {number} opcode
   * @param {Buffer} payload
   */
  answer(opcode, payload) {
    if (opcode === CLOSE) {
      this.socket.end(framed(CLOSE, payload));
    } else if (this.endpoint === 'echo') {
      this.socket.write(framed(opcode, payload));
    } else {
      const message = framed(TEXT, payload);
      for (const receiver of this.room) {
        receiver.write(message);
      }
      this.socket.write(OK);
    }
  }
}

/**
 * A frame as a server sends it.
 *
 * @param {number} opcode
 * @param {Buffer} payload
 */
function framed(opcode, payload) {
  const { length } = payload;
  const header = length < 126 ? 2 : length < 65536 ? 4 : 10;
  const bytes = Buffer.allocUnsafe(header + length);
  bytes[0] = FIN | opcode;
  bytes[1] = header === 2 ? length : header === 4 ? 126 : 127;
  if (header === 4) {
    bytes.writeUInt16BE(length, 2);
  } else if (header === 10) {
    bytes.writeUInt32BE(0, 2);
    bytes.writeUInt32BE(length, 6);
  }
  payload.copy(bytes, header);
  return bytes;
}

const OK = framed(TEXT, Buffer.from('ok'));
