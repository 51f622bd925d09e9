import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Answer } from '../../loadtests/generator/answer.js';

/** Parse an answer whose bytes arrive in these pieces, and return its parts. */
function parsed(pieces, method = 'GET') {
  const seen = { status: null, body: '', isComplete: false, isUntilClose: false };
  const answer = new Answer(method, {
    onHead: (status) => (seen.status = status),
    onData: (bytes) => (seen.body += bytes),
  });
  for (const piece of pieces) {
    const buffer = Buffer.from(piece, 'latin1');
    answer.take(buffer);
    buffer.fill(0); // the socket reuses its buffer
  }
  const { isComplete, isUntilClose } = answer;
  return { ...seen, isComplete, isUntilClose };
}

const OK = { status: 200, body: 'hello world', isComplete: true, isUntilClose: false };
const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKS = `${HEAD}Transfer-Encoding: gzip, Chunked\r\n\r\n6\r\nhello \r\n5;x=y\r\nworld\r\n0\r\nX-Sum: 1\r\n\r\n`;

for (const [what, whole] of [
  ['by its length', `${HEAD}X-Y: Z\r\nContent-Length: 11 \r\n\r\nhello world`],
  ['in chunks', CHUNKS],
  ['after interim answers', `HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 Hints\r\nContent-Length: 3\r\n\r\n${CHUNKS}`],
]) {
  test(`a body ${what} may arrive in any two pieces`, () => {
    assert.deepEqual(parsed([whole]), OK);
    assert.deepEqual(parsed(whole), OK); // byte by byte
    for (let at = 1; at < whole.length; at++) {
      assert.deepEqual(parsed([whole.slice(0, at), whole.slice(at)]), OK);
      assert.equal(parsed([whole.slice(0, at)]).isComplete, false);
    }
  });
}

test('a body without a length ends when the connection closes', () => {
  assert.deepEqual(parsed([`${HEAD}\r\nhello `, 'world']), { ...OK, isComplete: false, isUntilClose: true });
});

for (const [method, head] of [
  ['HEAD', `${HEAD}Content-Length: 11\r\n`],
  ['GET', 'HTTP/1.1 204 No Content\r\n'],
  ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 11\r\n'],
  ['GET', 'HTTP/1.0 200\r\nContent-Length: 0\r\n'],
]) {
  test(`an answer to ${method} without a body is complete: ${head.slice(9, 12)}`, () => {
    const { isComplete, body } = parsed([`${head}\r\n`], method);
    assert.deepEqual([isComplete, body], [true, '']);
  });
}

for (const [what, bytes, message] of [
  ['another protocol', 'SSH-2.0\r\n\r\n', /is not HTTP\/1.1: 'SSH-2.0'/],
  ['an invalid length', `${HEAD}Content-Length: 1x\r\n\r\n`, /Content-Length is '1x'/],
  ['an invalid chunk size', `${HEAD}Transfer-Encoding: chunked\r\n\r\nxy\r\n`, /starts with 'xy'/],
  ['a chunk with too many bytes', `${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\nabc`, /longer than its size/],
  ['a chunk without a line end', `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nOK0\r\n\r\n`, /longer than its size/],
  ['an endless head', `${HEAD}${'X-Y: Z\r\n'.repeat(9000)}`, /longer than 65536 bytes/],
]) {
  test(`${what} is an error`, () => assert.throws(() => parsed([bytes]), message));
}
