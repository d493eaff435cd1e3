import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** True where nginx is not on the PATH; the tests that need it are skipped then. */
export const nginxMissing = spawnSync('nginx', ['-v']).error !== undefined;
if (nginxMissing && process.env['CI_REQUIRE_NGINX'] === '1') throw new Error('nginx is missing');

/** A port of this machine that nothing uses. */
export async function freePort(): Promise<number> {
  const reserved = createServer().listen(0, '127.0.0.1');
  await once(reserved, 'listening');
  const { port } = reserved.address() as AddressInfo;
  reserved.close();
  return port;
}

/** Starts nginx with locations, and what stands beside the server; returns its address. It ends after the last test of the file. */
export async function startNginx({
  locations,
  beside = '',
  port,
}: {
  readonly locations: string;
  readonly beside?: string;
  readonly port: number;
}): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'caller-trust-nginx-'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${home}/${name};`)
    .join(' ');
  await chmod(home, 0o755);
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  await writeFile(
    join(home, 'nginx.conf'),
    `${user} worker_processes 1; pid ${home}/pid; error_log ${home}/error.log; daemon off; events {}
http { access_log off; sendfile on; default_type application/octet-stream; ${temporary}
${beside}
server { listen 127.0.0.1:${port};
${locations}
} }`,
  );
  const child = spawn('nginx', ['-c', join(home, 'nginx.conf'), '-p', home], { stdio: 'inherit' });
  afterAll(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
    await rm(home, { recursive: true });
  });
  return `http://127.0.0.1:${port}`;
}

/** The configurations of nginx that a page of the docs shows, with the address of the service that it stands before. */
export async function nginxOfDocs(page: string, upstream: string): Promise<string[]> {
  const text = await readFile(join(import.meta.dirname, '../../docs', page), 'utf8');
  return [...text.matchAll(/^```nginx\n([^]*?)^```$/gm)].map(([, config]) =>
    config!.replace(/proxy_pass http:\/\/127\.0\.0\.1:\d+;/, `proxy_pass ${upstream};`),
  );
}
