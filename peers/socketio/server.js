// Serve the dialect "socket.io" of docs/websockets.rst. With --redis, rooms span WORKERS processes that share the port.
import cluster from "node:cluster";
import { argv, env, exit } from "node:process";
import { createAdapter } from "@socket.io/redis-adapter";
import { createClient } from "redis";
import { Server } from "socket.io";
import { HEARTBEAT_MS, allowed, answering, listen } from "../common.js";

const redis = argv.includes("--redis");
const workers = redis ? Number(env.BENCH_WORKERS ?? 1) : 1;

if (workers > 1 && cluster.isPrimary) {
  for (let worker = 0; worker < workers; worker += 1) cluster.fork();
  cluster.on("exit", () => exit(1)); // a run treats a process that ends as a failure
} else {
  await serve();
}

async function serve() {
  const server = answering();
  const io = new Server(server, {
    transports: ["websocket"],
    serveClient: false,
    pingInterval: HEARTBEAT_MS,
    pingTimeout: HEARTBEAT_MS,
    allowRequest: (request, decide) => decide(null, allowed(request)),
    ...(redis && { adapter: await adapter() }),
  });
  io.on("connection", (socket) => {
    socket.on("echo", (payload) => socket.emit("echo", payload));
    socket.on("join", async (room, answer) => {
      await socket.join(room);
      answer("joined");
    });
    socket.on("publish", (room, payload, answer) => {
      io.to(room).emit("message", payload);
      answer("ok");
    });
  });
  listen(server);
}

/** Return an adapter with two connections to Redis, as its documentation recommends. Waits until Redis is running. */
async function adapter() {
  const publishing = createClient(address());
  const subscribed = publishing.duplicate();
  for (const client of [publishing, subscribed]) client.on("error", () => {}); // the client reconnects by itself
  await Promise.all([publishing.connect(), subscribed.connect()]);
  // Simultaneous setups may share a Redis server, but not a room.
  return createAdapter(publishing, subscribed, { key: `socket.io:${env.BENCH_PORT ?? ""}` });
}

/** Return the address of the Redis server in REDIS_URL, or of the server that supervisor/redis.sh starts. */
function address() {
  const url = env.REDIS_URL;
  if (!url) return { socket: { path: `${env.RUN_DIR}/redis.sock` } };
  return url.startsWith("unix://") ? { socket: { path: new URL(url).pathname } } : { url };
}
