// The fast server of tools/engines.py. The argument names its protocol. It prints its origin, and ends when standard input
// is closed.

const { protocol } = await import(`../loadtests/generator/protocols/${process.argv[2]}.js`);
const { origin } = await protocol.answering({});
console.log(origin);
process.stdin.on('close', () => process.exit(0)).resume();
