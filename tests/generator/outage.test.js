import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Outage } from '../../loadtests/generator/outage.js';

/** Return the outage in requests that are 25 ms apart: `.` is an answer, `x` a failure, and `|` a new slice. */
function outage(requests) {
  const found = new Outage();
  requests.split('|').forEach((slice, place) => {
    found.startSlice();
    const ends = [...slice].map((end, number) => [place * 1e6 + number * 25, end === '.']);
    ends.reverse().forEach(([intended, ok]) => found.add(intended, ok)); // the last request ends first
  });
  return found.longestMs();
}

for (const [requests, expectedMs] of [
  ['....', 0],
  ['.x..', 25],
  ['.xxx..x.', 75],
  ['x.xx..', 50],
  ['..xxx', 50],
  ['.xx|..', 25],
  ['xx.|...', 50],
]) {
  test(`outage of ${requests}`, () => assert.equal(outage(requests), expectedMs));
}

test('the outage is unknown if there are too many requests', () => assert.equal(outage('.'.repeat(100_001)), null));
