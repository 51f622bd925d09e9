// Compare an answer with the expected status and body. The body is compared while it arrives, without storing the bytes.

/** @import { Connection, Owner } from './types.ts' */

export class ExpectedAnswer {
  status = 0;
  /** @type {Buffer | null} */
  body = null;
  read = 0;
  isSame = true;

  /**
   * Start a new answer. If the expected body is null, any body is correct.
   *
   * @param {{status: number, body: Buffer | null}} expected
   */
  begin({ status, body }) {
    this.status = status;
    this.body = body;
    this.read = 0;
    this.isSame = true;
  }

  add(/** @type {Buffer} */ chunk) {
    if (this.body !== null) {
      const end = this.read + chunk.length;
      this.isSame &&= end <= this.body.length && chunk.compare(this.body, this.read, end) === 0;
      this.read = end;
    }
  }

  /**
   * Tell the owner of a connection that a complete answer has arrived.
   *
   * @param {Connection} connection
   * @param {Owner} owner
   * @param {number} status
   * @param {number} at when the answer was complete
   */
  report(connection, owner, status, at) {
    if (status !== this.status) {
      const text = `status ${status} instead of ${this.status}`;
      owner.onFailed(connection, at, { kind: 'status', answered: true, text });
    } else if (this.body !== null && !(this.isSame && this.read === this.body.length)) {
      owner.onFailed(connection, at, { kind: 'wrong-body', answered: true, text: 'the answer has an unexpected body' });
    } else {
      owner.onOk(connection, at);
    }
  }
}
