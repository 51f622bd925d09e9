// Clients that connect and send nothing, like a browser that opens connections in advance.

import { connect } from 'node:net';

import { addressOf } from './loopback.js';

/** @import { Socket } from 'node:net' */
/** @import { Job } from './types.ts' */

const AGAIN_MS = 100; // the delay until a client reconnects after the server closed its connection

export class SilentClients {
  isClosed = false;
  /** @type {Set<Socket>} */
  sockets = new Set();

  constructor(/** @type {Job} */ job) {
    this.address = addressOf(job.origin);
    this.opened = Promise.all(Array.from({ length: job.silent }, () => this.open()));
  }

  /** Connect a client. The promise resolves when the client is connected or was refused. */
  open() {
    return new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
      const socket = connect(this.address, () => resolve());
      this.sockets.add(socket);
      socket.resume(); // an unread error page of the server would delay the event `close`
      socket.on('error', () => {}); // `close` follows
      socket.on('close', () => {
        this.sockets.delete(socket);
        resolve();
        setTimeout(() => this.isClosed || this.open(), AGAIN_MS).unref();
      });
    });
  }

  close() {
    this.isClosed = true;
    for (const socket of this.sockets) {
      socket.destroy();
    }
  }
}
