import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventScanner } from '../../loadtests/generator/event_scanner.js';

/** Count the events in a text that arrives in chunks of `size` bytes. */
function events(text, size = Infinity) {
  const bytes = Buffer.from(text);
  const scanner = new EventScanner();
  let count = 0;
  for (let at = 0; at < bytes.length; at += size) {
    scanner.scan(bytes.subarray(at, at + size), () => count++);
  }
  return count;
}

// The first four texts are examples from the HTML standard, section 9.2.6.
const VECTORS = [
  ['data: YHOO\ndata: +2\ndata: 10\n\n', 1],
  [': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n', 3],
  ['data\n\ndata\ndata\n\ndata:', 2],
  ['data:test\n\ndata: test\n\n', 2],
  ['\n\n\n\n', 0],
  ['id: 1\nevent: x\nretry: 10\n\n', 0],
  ['data\rdata\r\rdata: x\r\r', 2],
  ['data: x\r\n\r\ndata: y\r\n\r\n', 2],
  ['data: x\n\r\ndata: y\r\n\rdata: z\r\r\n', 3],
  ['Data: x\n\n data: x\n\ndata : x\n\ndatax: y\n\ndat\n\n', 0],
  ['data: x\n', 0],
  ['data: \u2028\u0085\u000b x\n\n', 1],
];

for (const [text, count] of VECTORS) {
  test(`events in ${JSON.stringify(text)}`, () => {
    assert.deepEqual([Infinity, 1, 2, 3].map((size) => events(text, size)), [count, count, count, count]);
  });
}
