import dgram from 'node:dgram';
import dns from 'node:dns';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';

// Loaded first into each sandboxed child and its threads: no module can use the network, and no output of a library gets into
// the answer. The kernel's empty network namespace, if the system has one, is the second barrier.

function refuseNetwork(): never {
  throw new Error('A sandboxed child has no network.');
}

const doors: readonly (readonly [object, readonly string[]])[] = [
  [net, ['connect', 'createConnection', 'createServer']],
  [net.Socket.prototype, ['connect']],
  [net.Server.prototype, ['listen']],
  [tls, ['connect', 'createServer']],
  [dgram, ['createSocket']],
  [http, ['request', 'get', 'createServer']],
  [https, ['request', 'get', 'createServer']],
  [http2, ['connect', 'createServer', 'createSecureServer']],
  [dns, ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveAny', 'resolveTxt', 'reverse']],
  [dns.promises, ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveAny', 'resolveTxt', 'reverse']],
  [globalThis, ['fetch', 'WebSocket', 'EventSource']],
];

for (const [owner, names] of doors) {
  for (const name of names)
    if (name in owner)
      Object.defineProperty(owner, name, { value: refuseNetwork, configurable: false, writable: false });
}
syncBuiltinESMExports();

for (const name of ['log', 'info', 'debug', 'warn', 'error', 'trace', 'dir', 'table'] as const)
  console[name] = () => {};

// A terminal and systemd signal the whole group, but the parent decides when the child ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
