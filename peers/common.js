// Shared code of the peers on Node: the address, the health check, and the pages that may open a WebSocket.
import { createServer } from "node:http";

const { env } = process;
const [BIND, PORT] = [env.BENCH_BIND ?? "127.0.0.1", env.BENCH_PORT ?? "8000"];
const [BACKLOG, KEEP_ALIVE] = [env.BENCH_BACKLOG ?? "2048", env.BENCH_KEEP_ALIVE ?? "60"];

export const HEARTBEAT_MS = 20_000;

/** Return an HTTP server that answers / and /healthz with OK, like the sample project. Node's default is TCP_NODELAY. */
export function answering() {
  const server = createServer((request, response) => {
    const known = request.url === "/" || request.url === "/healthz";
    response.writeHead(known ? 200 : 404, { "content-type": "text/plain" }).end(known ? "OK" : "Not found");
  });
  server.keepAliveTimeout = Number(KEEP_ALIVE) * 1000;
  return server;
}

/** Listen on BENCH_BIND and BENCH_PORT. */
export function listen(server) {
  server.listen({ host: BIND, port: Number(PORT), backlog: Number(BACKLOG) });
}

/**
 * Return whether the page that opens a WebSocket is from this host. A client without an Origin header isn't a browser,
 * so there is nothing to protect (RFC 6455, section 10.2).
 */
export function allowed(request) {
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  return ["localhost", "127.0.0.1", "[::1]", BIND].includes(new URL(origin).hostname);
}
