import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { copyOut, type CopyOutOptions } from '../../../../pipelines/caches/artefact/copy-out.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { url } = await useTestDatabase();

async function withClient<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const socketOf = (client: pg.Client) => (client as unknown as { connection: { stream: Socket } }).connection.stream;

interface Copied {
  readonly chunks: Buffer[];
  readonly text: string;
  readonly rowsCopied: number;
}

type CopyOptions = Partial<CopyOutOptions> & { readonly onChunk?: () => Promise<void> };

async function copyAll(client: pg.Client, query: string, { onChunk, ...options }: CopyOptions = {}): Promise<Copied> {
  const chunks: Buffer[] = [];
  const copying = copyOut({ client, statement: `COPY (${query}) TO STDOUT`, idleSecondsMax: 10, ...options });
  for (;;) {
    const { done, value } = await copying.next();
    if (done === true) return { chunks, text: Buffer.concat(chunks).toString(), rowsCopied: value };
    chunks.push(value);
    await onChunk?.();
  }
}

// Rows of 2 to about 9,000 bytes: shorter and longer than a block, and than what is copied byte by byte.
const manyLengths =
  "SELECT repeat('x', (i * i) % 97 + CASE WHEN i % 200 = 0 THEN 9000 WHEN i % 40 = 0 THEN 700 ELSE 0 END) || i FROM generate_series(1, 600) AS i";
const expectedLines = Array.from({ length: 600 }, (_, at) => {
  const i = at + 1;
  return `${'x'.repeat(((i * i) % 97) + (i % 200 === 0 ? 9000 : i % 40 === 0 ? 700 : 0))}${i}\n`;
});

describe('a COPY', () => {
  it('gives every byte of every row, the count of the server, and the connection back', async () => {
    await withClient(async (client) => {
      const { text, rowsCopied } = await copyAll(client, manyLengths);
      expect(text).toBe(expectedLines.join(''));
      expect(rowsCopied).toBe(600);
      expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    });
  });

  it('gives no chunk for no rows', async () => {
    await withClient(async (client) =>
      expect(await copyAll(client, 'SELECT 1 WHERE false')).toEqual({ chunks: [], text: '', rowsCopied: 0 }),
    );
  });

  it('passes over notices between the rows', async () => {
    await withClient(async (client) => {
      await client.query(
        "CREATE FUNCTION pg_temp.tell(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'row %', i; RETURN i; END $$",
      );
      expect((await copyAll(client, 'SELECT pg_temp.tell(i) FROM generate_series(1, 50) AS i')).text).toBe(
        Array.from({ length: 50 }, (_, at) => `${at + 1}\n`).join(''),
      );
    });
  });

  it.each([1, 10, 5000, 9999])(
    'fails with the cause when the server fails at row %d, and gives the connection back',
    async (row) => {
      await withClient(async (client) => {
        const failing = copyAll(client, `SELECT 1 / (i - ${row}) FROM generate_series(1, 10000) AS i`);
        await expect(failing).rejects.toMatchObject({ code: 'copy_cut', cause: { code: '22012' } });
        expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      });
    },
  );

  it('fails when the connection is cut, also while no row is waited for', async () => {
    await withClient(async (client) => {
      let taken = 0;
      const onChunk = async () => {
        if (++taken < 3) return;
        socketOf(client).destroy();
        await sleep(100);
      };
      const cut = copyAll(client, "SELECT repeat('x', 999) FROM generate_series(1, 50000)", { onChunk });
      await expect(cut).rejects.toMatchObject({ code: 'copy_cut' });
    });
  });

  it('ends when its consumer gives up', async () => {
    await withClient(async (client) => {
      const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
      const onChunk = () => Promise.reject(full);
      await expect(copyAll(client, 'SELECT generate_series(1, 1000)', { onChunk })).rejects.toBe(full);
      socketOf(client).destroy();
    });
  });

  it('fails when the server is silent for longer than allowed', async () => {
    await withClient(async (client) => {
      const silent = copyAll(client, 'SELECT pg_sleep(10)', { idleSecondsMax: 0.4 });
      await expect(silent).rejects.toMatchObject({ code: 'copy_stalled' });
      socketOf(client).destroy();
    });
  });

  it('waits longer for the first row, before which the server may sort', async () => {
    await withClient(async (client) => {
      const limits = { firstSecondsMax: 10, idleSecondsMax: 0.4 };
      expect((await copyAll(client, 'SELECT 1 FROM pg_sleep(0.8)', limits)).rowsCopied).toBe(1);
      const silentLater =
        "SELECT repeat('x', 9000), pg_sleep(CASE n WHEN 3 THEN 10 ELSE 0 END) FROM generate_series(1, 3) AS n";
      await expect(copyAll(client, silentLater, limits)).rejects.toMatchObject({ code: 'copy_stalled' });
      socketOf(client).destroy();
    });
  });

  it('stops the server when nobody takes the rows, and continues when somebody does', async () => {
    await withClient(async (client) => {
      let bytesRead = 0;
      const onChunk = async () => {
        if (bytesRead > 0) return;
        await sleep(1500); // longer than the watchdog's patience with the server
        ({ bytesRead } = socketOf(client));
      };
      const query = "SELECT repeat('x', 999) FROM generate_series(1, 50000)";
      expect((await copyAll(client, query, { onChunk, idleSecondsMax: 1 })).rowsCopied).toBe(50_000);
      expect(bytesRead).toBeLessThan(8 * 1024 * 1024); // of 50 MB
    });
  });

  it('ends when its signal fires, also before it starts', async () => {
    await withClient(async (client) => {
      const abort = new AbortController();
      const copying = copyAll(client, 'SELECT pg_sleep(5)', { signal: abort.signal });
      setTimeout(() => abort.abort(), 50);
      await expect(copying).rejects.toMatchObject({ code: 'interrupted' });
      socketOf(client).destroy();
    });
    await withClient(async (client) => {
      await expect(copyAll(client, 'SELECT 1', { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'interrupted',
      });
    });
  });
});
