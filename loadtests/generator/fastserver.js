// The fast server of the benchmark, as a process: of HTTP, or of the protocol in its argument. Its origin is the one line
// on standard output; it ends with standard input.

/** @import { Job, Protocol } from './types.ts' */

const file = `./protocols/${process.argv[2] ?? 'http'}.js`;
const { protocol } = /** @type {{protocol: Protocol}} */ (await import(file));
const { origin } = await protocol.answering(/** @type {Job} */ ({}));
console.log(origin);
process.stdin.on('close', () => process.exit(0)).resume();
