// Serve the dialect "plain" of docs/websockets.rst with only the package ws. Rooms exist within one process.
import { STATUS_CODES } from "node:http";
import { WebSocketServer } from "ws";
import { HEARTBEAT_MS, allowed, answering, listen } from "../common.js";

const ENDPOINT = /^\/ws\/(?:(echo)|(rooms|publish)\/([\w-]{1,64}))\/$/;
const SUBPROTOCOL = "echo";

/** @type {Map<string, Set<import("ws").WebSocket>>} */
const rooms = new Map();

const endpoints = {
  echo(client) {
    client.on("message", (data, binary) => client.send(data, { binary }));
  },
  rooms(client, room) {
    if (!rooms.has(room)) rooms.set(room, new Set());
    const members = rooms.get(room);
    members.add(client);
    client.on("close", () => {
      members.delete(client);
      if (members.size === 0) rooms.delete(room);
    });
    client.send("joined");
  },
  publish(client, room) {
    client.on("message", (data) => {
      for (const member of rooms.get(room) ?? []) member.send(data, { binary: false });
      client.send("ok");
    });
  },
};

const sockets = new WebSocketServer({
  noServer: true,
  handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
});

const server = answering();
server.on("upgrade", (request, socket, head) => {
  const [, echo, kind, room] = ENDPOINT.exec(request.url) ?? [];
  if (!(echo || kind) || !allowed(request)) {
    socket.end(`HTTP/1.1 403 ${STATUS_CODES[403]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    return;
  }
  sockets.handleUpgrade(request, socket, head, (client) => {
    client.alive = true;
    client.on("pong", () => (client.alive = true));
    client.on("error", () => {}); // after a protocol error of the client, ws closes the connection
    endpoints[echo ?? kind](client, room);
  });
});

// The heartbeat that the documentation of ws recommends: a client that didn't answer the last ping is disconnected.
setInterval(() => {
  for (const client of sockets.clients) {
    if (!client.alive) client.terminate();
    client.alive = false;
    client.ping();
  }
}, HEARTBEAT_MS);

listen(server);
