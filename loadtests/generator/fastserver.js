// The fast server of the benchmark, in a process of its own. Its origin is the one line on standard output; it ends
// with standard input.

import { protocol } from './protocols/http.js';

const { origin } = await protocol.answering();
console.log(origin);
process.stdin.on('close', () => process.exit(0)).resume();
