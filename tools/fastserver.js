// Run the fast server for tools/engines.py with the protocol in the argument. The server prints its origin, and ends
// when its standard input is closed.

const { protocol } = await import(`../loadtests/generator/protocols/${process.argv[2]}.js`);
const { origin } = await protocol.answering({});
console.log(origin);
process.stdin.on('close', () => process.exit(0)).resume();
