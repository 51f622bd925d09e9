// The fast server of the benchmark, in a process of its own: of HTTP, or of the protocol that it is called with. Its
// origin is the one line on standard output; it ends with standard input.

/** @import { Job } from './job.js' */
/** @import { Protocol } from './protocol.js' */

const file = `./protocols/${process.argv[2] ?? 'http'}.js`;
const { protocol } = /** @type {{protocol: Protocol}} */ (await import(file));
const { origin } = await protocol.answering(/** @type {Job} */ ({}));
console.log(origin);
process.stdin.on('close', () => process.exit(0)).resume();
