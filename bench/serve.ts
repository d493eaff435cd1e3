/**
 * Claims: one download of 500 MB runs at 0.7 or more of the rate of nginx with sendfile; 100 downloads at a time at 0.9 or
 * more of nginx without, in 150 MiB; both at 6 times or more of @fastify/static.
 *
 *   npm run build && node dist/bench/serve.js [MB=500] [rounds=5]
 *
 * nginx is taken from the PATH (Debian: nginx-light). Every server is one process of its own with one
 * thread that answers; the clients run in another. Only ours checks keys, counts requests and writes metrics.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import type { DownloadLoad } from './serve-client.ts';
import type { ServerToStart, StartedServer } from './serve-contender.ts';
import {
  printSideBySide,
  requirePrograms,
  runSideBySide,
  tickMs,
  type ChildFigures,
  type Contender,
} from './side-by-side.ts';
import { sha256Of } from '../runtime/digest.ts';

requirePrograms('nginx');
const megabytes = Number(process.argv[2] ?? 500);
const rounds = Number(process.argv[3] ?? 5);
const manyClients = 100;
const programs = { client: '../bench/serve-client.js', contender: '../bench/serve-contender.js' };
const pathOf = (program: keyof typeof programs) => fileURLToPath(new URL(programs[program], import.meta.url));

/** A file as it is served, whole or in a smaller one for many clients. */
interface ServedFile {
  readonly sha256: string;
  readonly bytes: number;
  readonly path: string;
}

/** A server that runs, and what it has used so far. */
interface Server extends StartedServer {
  readonly name: string;
  used(): Promise<ChildFigures>;
  stop(): Promise<void>;
}

async function storeFile(directory: string, bytes: number): Promise<ServedFile> {
  const content = randomBytes(bytes);
  const sha256 = sha256Of(content);
  const store = new ArtefactDirectory(directory);
  const name = { cache: 'spammer_phones', country: '', sha256 };
  const file = await store.start('bench');
  await file.handle.writeFile(content);
  await file.keep(name);
  return { sha256, bytes, path: store.path(name) };
}

async function startContender(name: string, toStart: ServerToStart): Promise<Server> {
  const child = fork(pathOf('contender'), [JSON.stringify(toStart)]);
  const [started] = (await once(child, 'message')) as [StartedServer];
  await untilAnswering(started);
  return { name, ...started, used: () => usedByProcess(child.pid!), stop: () => end(child) };
}

/** One worker of nginx, with the settings of Debian's but no access log. */
async function startNginx(
  name: string,
  { path }: ServedFile,
  { directory, sendfile }: { directory: string; sendfile: 'on' | 'off' },
): Promise<Server> {
  const port = await freePort();
  const home = await mkdtemp(join(directory, 'nginx-'));
  await chmod(home, 0o755);
  const root = path.slice(0, path.lastIndexOf('/'));
  await writeFile(
    join(home, 'nginx.conf'),
    `worker_processes 1; pid ${home}/pid; error_log ${home}/error.log; daemon off; user root;
events { worker_connections 1024; }
http { access_log off; sendfile ${sendfile}; tcp_nopush on; output_buffers 2 256k; keepalive_requests 100000000; client_body_temp_path ${home}/b; proxy_temp_path ${home}/p; fastcgi_temp_path ${home}/f; uwsgi_temp_path ${home}/u; scgi_temp_path ${home}/s;
  open_file_cache max=10; server { listen 127.0.0.1:${port}; root ${root}; } }`,
  );
  const child = spawn('nginx', ['-c', join(home, 'nginx.conf'), '-p', home], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const started = { url: `http://127.0.0.1:${port}${path.slice(root.length)}`, headers: {} };
  await untilAnswering(started);
  const workers = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
    .trim()
    .split(' ')
    .map(Number);
  return { name, ...started, used: () => usedByProcess(workers[0]!), stop: () => end(child) };
}

/** CPU and peak memory of a process of Linux by its id. */
async function usedByProcess(pid: number): Promise<ChildFigures> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  const peak = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs, peakRssBytes: Number(peak![1]) * 1024 };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function untilAnswering({ url, headers }: StartedServer): Promise<void> {
  for (let tries = 0; ; tries++) {
    const response = await fetch(url, { method: 'HEAD', headers }).catch(() => undefined);
    if (response?.ok) return;
    if (tries === 100) throw new Error(`${url} does not answer: ${response?.status ?? 'no connection'}`);
    await sleep(50);
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

/** A contender of a load; its figures are what the server used during the run. */
function under(server: Server, load: (server: Server) => Promise<void>): Contender {
  return {
    name: server.name,
    async run() {
      const before = await server.used();
      await load(server);
      const after = await server.used();
      return { cpuMs: after.cpuMs - before.cpuMs, peakRssBytes: after.peakRssBytes ?? 0 };
    },
  };
}

async function download(
  { url, headers }: Server,
  { clients, bytes }: { clients: number; bytes: number },
): Promise<void> {
  const load: DownloadLoad = { url, headers, clients, bytes };
  const client = fork(pathOf('client'), [JSON.stringify(load)]);
  const [code] = (await once(client, 'exit')) as [number];
  if (code !== 0) throw new Error('the clients failed');
}

async function startAll(file: ServedFile, directory: string): Promise<Server[]> {
  const contender = (name: string, kind: ServerToStart['contender']) =>
    startContender(name, { ...file, directory, contender: kind });
  return [
    await startNginx('nginx, sendfile', file, { directory, sendfile: 'on' }),
    await startNginx('nginx, no sendfile', file, { directory, sendfile: 'off' }),
    await contender('ours', 'ours'),
    await contender('@fastify/static', 'static'),
    await contender('createReadStream().pipe()', 'pipe'),
  ];
}

/** Runs one load against servers of one file. */
async function compare(
  directory: string,
  bytes: number,
  load: (servers: readonly Server[]) => Promise<void>,
): Promise<void> {
  const servers = await startAll(await storeFile(directory, bytes), directory);
  try {
    await load(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-serve-'));
await chmod(directory, 0o755);
try {
  await compare(directory, megabytes * 1e6, async (servers) => {
    console.log(`one download of ${megabytes} MB`);
    printSideBySide(
      await runSideBySide(
        servers.map((server) => under(server, (each) => download(each, { clients: 1, bytes: megabytes * 1e6 }))),
        rounds,
      ),
      'nginx, sendfile',
    );
  });
  const each = (megabytes * 1e6) / 20;
  await compare(directory, each, async (servers) => {
    console.log(`${manyClients} downloads of ${each / 1e6} MB at a time`);
    printSideBySide(
      await runSideBySide(
        servers.map((server) => under(server, (one) => download(one, { clients: manyClients, bytes: each }))),
        rounds,
      ),
      'nginx, no sendfile',
    );
  });
} finally {
  await rm(directory, { recursive: true });
}
