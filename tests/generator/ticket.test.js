import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { withTicket } from '../../loadtests/generator/ticket.js';

/** Return the ticket that a client reads from a server's answer `body`. */
async function ticketFrom(body, place = '.ticket') {
  const server = createServer((_, answer) => answer.end(body));
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { port } = server.address();
    return await withTicket({ origin: `http://127.0.0.1:${port}`, headers: [] }, `POST /tickets/ ${place}`, '$TICKET');
  } finally {
    server.close();
  }
}

test('a ticket is the text or the number at the given place', async () => {
  assert.equal(await ticketFrom('{"ticket": "a b"}'), 'a%20b');
  assert.equal(await ticketFrom('{"data": {"id": 7}}', '.data.id'), '7');
});

for (const body of ['{}', '{"ticket": null}', '{"ticket": ["x"]}', '{"ticket": true}', 'no JSON']) {
  test(`${body} contains no ticket`, async () => {
    await assert.rejects(ticketFrom(body), /POST \/tickets\/ answered 200 without a ticket/);
  });
}

test('an endless answer is not collected', async () => {
  await assert.rejects(ticketFrom('x'.repeat(17 * 2 ** 20)), /POST \/tickets\/: the answer has over/);
});
