import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach } from 'vitest';
import { parseMetadata } from '../../format/trust/metadata.ts';
import { targetHref, trustPath } from '../../format/trust/targets.ts';

/** What a mirror serves: paths and bytes. */
export type MirrorState = ReadonlyMap<string, Buffer>;

/** Answers a request in its own way; false: the mirror serves its file. */
export type Attack = (request: IncomingMessage, response: ServerResponse) => boolean;

interface Mirror {
  readonly url: string;
  /** Paths of the requests since the last {@link serve}. */
  readonly requests: readonly string[];
  serve(state: MirrorState, attack?: Attack): void;
}

/**
 * A server of static files, as a mirror, a CDN or a bucket is one: it knows neither keys nor entity tags of the service, and
 * answers ranges. It is closed after the last test of the file.
 */
export async function useMirror(): Promise<Mirror> {
  let files: MirrorState = new Map();
  let attack: Attack = () => false;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url!);
    if (!attack(request, response)) sendFile(request, response, files.get(request.url!));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => void server.close().closeAllConnections());
  beforeEach(() => server.closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    serve(state, act = () => false) {
      requests.length = 0;
      files = state;
      attack = act;
    },
  };
}

/** Answers with a file or a range of it, as a static server does. */
export function sendFile(request: IncomingMessage, response: ServerResponse, file: Buffer | undefined): void {
  if (file === undefined) return void response.writeHead(404).end('there is no such file');
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (start === undefined) return void response.writeHead(200, { ETag: '"of-the-mirror"' }).end(file);
  const range = file.subarray(Number(start), Number(end) + 1);
  response.writeHead(206, {
    'Content-Range': `bytes ${start}-${Number(start) + range.length - 1}/${file.length}`,
    ETag: '"of-the-mirror"',
  });
  response.end(range);
}

/** Copies everything that a service has signed. */
export async function copySigned(get: (path: string) => Promise<Response>): Promise<Map<string, Buffer>> {
  const state = new Map<string, Buffer>();
  const copy = async (path: string) => {
    const answer = await get(path);
    if (answer.status !== 200) return undefined;
    const bytes = Buffer.from(await answer.arrayBuffer());
    state.set(path, bytes);
    return bytes;
  };
  for (let version = 1; (await copy(`${trustPath}/${version}.root.json`)) !== undefined; version++);
  const timestamp = parseMetadata('timestamp', (await copy(`${trustPath}/timestamp.json`))!).signed;
  const snapshotPath = `${trustPath}/${timestamp.meta['snapshot.json'].version}.snapshot.json`;
  const snapshot = parseMetadata('snapshot', (await copy(snapshotPath))!).signed;
  const targetsPath = `${trustPath}/${snapshot.meta['targets.json'].version}.targets.json`;
  const { targets } = parseMetadata('targets', (await copy(targetsPath))!).signed;
  for (const [path, { hashes }] of Object.entries(targets)) await copy(targetHref(path, hashes.sha256));
  return state;
}
