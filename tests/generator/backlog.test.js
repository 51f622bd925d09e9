import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Deliveries } from '../../loadtests/generator/deliveries.js';

/**
 * The growth of those under way in a slice of a second, in which of `sent` deliveries every millisecond the first `come`
 * arrive at once, the next `later` after the slice, and the rest never.
 *
 * @param {{sent: number, come: number, later: number}} each
 */
function grown({ sent, come, later }) {
  const deliveries = new Deliveries();
  deliveries.begin(0, 100, 1100);
  for (let ms = 100; ms < 1100; ms++) {
    for (let receiver = 0; receiver < sent; receiver++) {
      deliveries.expect(receiver, 'a', ms, ms);
      if ((receiver + ms) % sent < come) {
        deliveries.arrived(receiver, 'a', ms, ms + 0.5);
      }
    }
    deliveries.look(ms + 0.75);
  }
  for (let receiver = 0; receiver < later; receiver++) {
    for (let ms = 100; ms < 1100; ms++) {
      deliveries.arrived(receiver, 'a', ms, 1200);
    }
  }
  deliveries.end(1300);
  const { backlog, in_time, delivered } = deliveries.measured();
  return { backlog, in_time, delivered };
}

test('a backlog is what is late, not what is lost', () => {
  assert.deepEqual(grown({ sent: 4, come: 4, later: 0 }), { backlog: [0], in_time: 4000, delivered: 4000 });
  const lossy = grown({ sent: 4, come: 3, later: 0 });
  assert.deepEqual([lossy.in_time, lossy.delivered], [3000, 3000]);
  assert.deepEqual(lossy.backlog, [0]);
  assert.deepEqual(grown({ sent: 2, come: 0, later: 2 }), { backlog: [4 * (1502 - 1000)], in_time: 0, delivered: 2000 });
});

test('a slice that was stopped, or only warms up, has no backlog', () => {
  const deliveries = new Deliveries();
  deliveries.begin(0, 100, 1100);
  deliveries.end(900);
  deliveries.begin(2000, 2100, 2100);
  deliveries.end(2100);
  assert.deepEqual(deliveries.backlog, []);
});

test('those under way may waver without becoming more', () => {
  const deliveries = new Deliveries();
  deliveries.begin(0, 0, 1000);
  const levels = [0, 2, 9, 4, 1, 8, 3, 12]; // of its eighths, the last far above the first
  let next = 0;
  levels.forEach((level, eighth) => {
    while (deliveries.underWay < level) {
      deliveries.expect(1, 'a', next++, 0);
    }
    if (deliveries.underWay > level) {
      deliveries.arrived(1, 'a', next - 1 - level, 0);
    }
    deliveries.look(125 * eighth);
  });
  deliveries.end(1000);
  assert.deepEqual(deliveries.backlog, [4 * (3 - 9)]);
});
