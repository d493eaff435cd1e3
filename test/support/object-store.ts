import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

/** The key pair that the server of the tests knows; it checks signatures. */
export const objectStoreKey = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/**
 * What a faulty proxy does with a request: pass it on, answer it with a status, say nothing, cut its answer after some bytes, or
 * stall there.
 */
export type Fault =
  'pass' | { readonly status: number } | 'silent' | { readonly cutAfter: number } | { readonly stallAfter: number };

/** An object store in a process of its own, behind a proxy that can be faulty. */
interface TestObjectStore {
  /** Address of the proxy. */
  readonly endpoint: string;
  readonly bucket: string;
  /** The requests so far, as `METHOD path?query`. */
  readonly requests: string[];
  /** What the proxy does with each request. */
  fault: (request: IncomingMessage) => Fault;
  /** Settings of a service that keeps its artefacts here. */
  readonly settings: Record<string, string>;
}

/** Starts an object store of the test file's own; it ends after the last test. Call it at the top level of a test file. */
export async function useObjectStore(): Promise<TestObjectStore> {
  const bucket = 'artefacts';
  const directory = await mkdtemp(join(tmpdir(), 'caller-trust-objects-'));
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./object-store-process.mjs', import.meta.url)), directory, bucket],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  const requests: string[] = [];
  const proxy = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    pass({ request, response, port, fault: store.fault(request) });
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const store: TestObjectStore = {
    endpoint,
    bucket,
    requests,
    fault: () => 'pass',
    settings: {
      ARTEFACT_STORE_URL: `s3://${bucket}/nights`,
      ARTEFACT_STORE_ENDPOINT: endpoint,
      ARTEFACT_STORE_ACCESS_KEY_ID: objectStoreKey.accessKeyId,
      ARTEFACT_STORE_SECRET_ACCESS_KEY: objectStoreKey.secretAccessKey,
    },
  };
  afterAll(async () => {
    proxy.closeAllConnections();
    proxy.close();
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
    await rm(directory, { recursive: true, force: true });
  });
  return store;
}

interface Passage {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly port: number;
  readonly fault: Fault;
}

function pass({ request, response, port, fault }: Passage): void {
  if (fault === 'silent') return void request.resume();
  if (typeof fault === 'object' && 'status' in fault) {
    request.resume();
    response
      .writeHead(fault.status, { 'content-type': 'application/xml' })
      .end('<Error><Code>SlowDown</Code><Message>not now, S3RVER</Message></Error>');
    return;
  }
  const { method, url, headers } = request; // the signature covers Host: it is passed on as it is
  const upstream = httpRequest({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    if (fault === 'pass') answer.pipe(response);
    else if ('cutAfter' in fault) interrupt(answer, response, fault.cutAfter, () => response.destroy());
    else interrupt(answer, response, fault.stallAfter, () => {});
  });
  upstream.on('error', () => response.destroy());
  request.pipe(upstream);
}

function interrupt(answer: IncomingMessage, response: ServerResponse, bytesMax: number, end: () => void): void {
  let left = bytesMax;
  answer.on('data', (chunk: Buffer) => {
    if (left <= 0) return;
    response.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) setImmediate(end);
  });
  answer.on('end', () => {
    if (left > 0) response.end(); // shorter than the fault: if it stayed open, the answers after it on the connection would wait
  });
}
