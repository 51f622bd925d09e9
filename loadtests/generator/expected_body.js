// Compare the body of an answer with the expected body while it arrives, without storing the bytes.

export class ExpectedBody {
  /** @type {Buffer | null} */
  expected = null;
  read = 0;
  isSame = true;

  /** Start a new answer. If `expected` is null, any body is correct. */
  begin(/** @type {Buffer | null} */ expected) {
    this.expected = expected;
    this.read = 0;
    this.isSame = true;
  }

  add(/** @type {Buffer} */ chunk) {
    const { expected } = this;
    if (expected !== null) {
      const end = this.read + chunk.length;
      this.isSame &&= end <= expected.length && chunk.compare(expected, this.read, end) === 0;
      this.read = end;
    }
  }

  get isRight() {
    return this.expected === null || (this.isSame && this.read === this.expected.length);
  }
}
