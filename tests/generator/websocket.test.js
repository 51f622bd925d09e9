import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dialect } from '../../loadtests/generator/dialects/plain.js';
import { FrameReader, TEXT } from '../../loadtests/generator/websocket/frames.js';
import { frame, serverFrame } from '../../loadtests/generator/websocket/write_frame.js';
import { lastRead, Payloads } from '../../loadtests/generator/websocket/payload.js';
import { Pool } from '../../loadtests/generator/websocket/pool.js';

/** Return a listener for a frame reader, which records the texts that it receives. */
function listening() {
  const texts = [];
  return {
    texts,
    onMessage: (data, start, end) => texts.push(data.toString('latin1', start, end)),
    onControl: (opcode, data, start, end) => texts.push(`${opcode} ${data.toString('latin1', start, end)}`),
  };
}

/** Return a frame as a server sends it. */
function served(first, text) {
  const bytes = serverFrame(0, Buffer.from(text));
  bytes[0] = first;
  return bytes;
}

const LONG = 'y'.repeat(300);
const LONGER = 'z'.repeat(100_000);
const FRAMES = [
  served(0x81, 'one'), served(0x89, 'ping'), served(0x01, 'tw'), served(0x8a, ''), served(0x80, 'o'),
  served(0x82, LONG), served(0x81, ''), served(0x81, 'grüße'), served(0x88, ''),
]; // prettier-ignore
const TEXTS = ['one', '9 ping', '10 ', 'two', LONG, '', Buffer.from('grüße').toString('latin1'), '8 '];

test('frames are read from pieces of any size', () => {
  const bytes = Buffer.concat(FRAMES);
  const few = Array.from({ length: bytes.length }, (_, k) => [k + 1, bytes, TEXTS]);
  for (const [piece, bytes, texts] of [...few, [777, served(0x81, LONGER), [LONGER]]]) {
    const one = listening();
    const reader = new FrameReader(one, null);
    for (let at = 0; at < bytes.length; at += piece) {
      // Each piece arrives in the same buffer, as in the generator.
      const shared = Buffer.alloc(piece + 3, 0x7a);
      const end = 3 + bytes.copy(shared, 3, at, Math.min(at + piece, bytes.length));
      reader.read(shared, 3, end);
      shared.fill(0);
    }
    assert.deepEqual(one.texts, texts, `in pieces of ${piece}`);
  }
});

test('each message is masked with a different key', () => {
  const keys = new Set(Array.from({ length: 3000 }, () => frame(TEXT, 'text').toString('hex', 2, 6)));
  assert.ok(keys.size > 2990);
});

test('a payload names its sender, and every byte is checked', () => {
  const payloads = new Payloads(24, '0123abcd');
  const text = payloads.write(12, 345);
  assert.equal(text, '0123abcd:12:345:xxxxxxxx');
  const known = (bytes) => payloads.recognise(bytes, 0, bytes.length);
  assert.ok(known(Buffer.from(text)));
  const read = { isOurs: true, isMeasured: true, isWhole: true, stream: 12, number: 345, end: 24 };
  assert.deepEqual({ ...lastRead }, read);
  for (const other of ['', 'x', ':', '1:2:', '0123abcd:1:2', '0123abcd:1::xxx', '0123abcd:a:1:xxx', text.slice(1)]) {
    assert.ok(!known(Buffer.from(other)), other);
  }
  for (const wrong of [`${text}x`, text.slice(0, -1), text.slice(0, -1) + 'y']) {
    assert.ok(known(Buffer.from(wrong)) && !lastRead.isWhole, wrong);
  }
  assert.ok(known(Buffer.from(text.replace('0', '1'))) && !lastRead.isOurs);
  assert.ok(known(Buffer.from(payloads.write(12, 345, false))) && lastRead.isWhole && !lastRead.isMeasured);
  const tiny = new Payloads(1, '0123abcd');
  assert.equal(tiny.write(7, 8), '0123abcd:7:8:');
  assert.ok(tiny.recognise(Buffer.from('0123abcd:7:8:'), 0, 13) && lastRead.isWhole);
});

test('connections use several source addresses if one address has too few ports', () => {
  const conversation = { does: 'connect', prefix: '/ws/', receivers: 0, rooms: 1, size: 64 };
  const pool = (origin) => {
    const requests = [{ path: '/', headers: [] }];
    return new Pool({ origin, requests, timeoutMs: 1000, connections: 1, index: 0, processes: 1 }, conversation, dialect);
  };
  const here = pool('http://127.0.0.1:80');
  const addresses = process.platform === 'linux' ? ['127.0.0.2', '127.0.0.3'] : [undefined, undefined];
  assert.deepEqual([0, 19_999, 20_000, 40_000].map((place) => here.addressOf(place)), [undefined, undefined, ...addresses]);
  assert.equal(pool('http://192.0.2.1:80').addressOf(40_000), undefined);
});
