import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Outage } from '../../loadtests/generator/outage.js';

/** Return the longest outage in ms. The requests are 25 ms apart. A `.` means an answer, and an `x` a
 * failure. */
function outage(requests) {
  const found = new Outage();
  const ends = [...requests].map((end, number) => [number * 25, end === '.']);
  ends.reverse().forEach(([intended, ok]) => found.add(intended, ok)); // requests may end in reverse order
  return found.longestMs();
}

for (const [requests, expectedMs] of [
  ['....', 0],
  ['.xxx..x.', 75],
  ['..xxx', 50],
]) {
  test(`outage of ${requests}`, () => assert.equal(outage(requests), expectedMs));
}

test('the outage is unknown if there are too many requests', () => assert.equal(outage('.'.repeat(100_001)), null));
