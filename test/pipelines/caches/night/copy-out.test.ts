import { Socket } from 'node:net';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { CopyOut, type CopyOutOptions } from '../../../../pipelines/caches/night/copy-out.ts';
import type { RowBlock } from '../../../../pipelines/caches/format/copy-rows.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { url } = await useTestDatabase();

/** A socket that forwards what it receives in chunks of a given size. */
class PiecewiseSocket extends Socket {
  pieceBytes = Infinity;

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    const [chunk] = args;
    if (event !== 'data' || !Buffer.isBuffer(chunk) || this.pieceBytes >= chunk.length)
      return super.emit(event, ...args);
    for (let at = 0; at < chunk.length; at += this.pieceBytes)
      super.emit('data', chunk.subarray(at, at + this.pieceBytes));
    return true;
  }
}

async function withClient<Result>(pieceBytes: number, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const socket = new PiecewiseSocket();
  const client = new pg.Client({ connectionString: url, stream: socket as unknown as () => Socket });
  client.on('error', () => {});
  await client.connect();
  socket.pieceBytes = pieceBytes;
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const socketOf = (client: pg.Client) => (client as unknown as { connection: { stream: Socket } }).connection.stream;

interface Copied {
  readonly blocks: RowBlock[];
  readonly text: string;
  readonly rowsCopied: number | undefined;
}

async function copyAll(client: pg.Client, query: string, options: Partial<CopyOutOptions> = {}): Promise<Copied> {
  const copy = CopyOut.start({
    client,
    statement: `COPY (${query}) TO STDOUT`,
    blockBytes: 4096,
    idleSecondsMax: 10,
    ...options,
  });
  const blocks: RowBlock[] = [];
  for await (const block of copy) {
    blocks.push({ plain: Buffer.from(block.plain), rows: block.rows, starts: block.starts.slice(0, block.rows + 1) });
    copy.recycle(block);
  }
  return { blocks, text: Buffer.concat(blocks.map(({ plain }) => plain)).toString(), rowsCopied: copy.rowsCopied };
}

// Rows of 2 to about 9,000 bytes: shorter and longer than a block, and than what is copied byte by byte.
const manyLengths =
  "SELECT repeat('x', (i * i) % 97 + CASE WHEN i % 200 = 0 THEN 9000 WHEN i % 40 = 0 THEN 700 ELSE 0 END) || i FROM generate_series(1, 600) AS i";
const expectedLines = Array.from({ length: 600 }, (_, at) => {
  const i = at + 1;
  return `${'x'.repeat(((i * i) % 97) + (i % 200 === 0 ? 9000 : i % 40 === 0 ? 700 : 0))}${i}\n`;
});

describe('CopyOut', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 11, 64, 1000, Infinity])(
    'gives every row whole when the stream comes in pieces of %d bytes, and the connection back',
    async (pieceBytes) => {
      await withClient(pieceBytes, async (client) => {
        const { blocks, text, rowsCopied } = await copyAll(client, manyLengths);
        expect(text).toBe(expectedLines.join(''));
        expect(rowsCopied).toBe(600);
        expect(blocks.reduce((sum, { rows }) => sum + rows, 0)).toBe(600);
        for (const { plain, rows } of blocks) {
          expect(plain.at(-1)).toBe(0x0a);
          if (rows > 1) expect(plain.length).toBeLessThanOrEqual(4096);
        }
        expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      });
    },
  );

  it('fills blocks up to exactly their size, and begins the next with the row that does not fit', async () => {
    await withClient(Infinity, async (client) => {
      const { blocks } = await copyAll(client, "SELECT repeat('x', 1023) FROM generate_series(1, 9)");
      expect(blocks.map(({ plain, rows }) => [plain.length, rows])).toEqual([
        [4096, 4],
        [4096, 4],
        [1024, 1],
      ]);
    });
  });

  it('gives no block for no rows', async () => {
    await withClient(1, async (client) =>
      expect(await copyAll(client, 'SELECT 1 WHERE false')).toEqual({ blocks: [], text: '', rowsCopied: 0 }),
    );
  });

  it.each([1, 5, Infinity])('passes over notices between the rows, in pieces of %d bytes', async (pieceBytes) => {
    await withClient(pieceBytes, async (client) => {
      await client.query(
        "CREATE FUNCTION pg_temp.tell(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'row %', i; RETURN i; END $$",
      );
      expect((await copyAll(client, 'SELECT pg_temp.tell(i) FROM generate_series(1, 50) AS i')).text).toBe(
        Array.from({ length: 50 }, (_, at) => `${at + 1}\n`).join(''),
      );
    });
  });

  it.each([1, 5, 64, Infinity])(
    'fails with the cause when the server fails in the middle, and gives the connection back, in pieces of %d bytes',
    async (pieceBytes) => {
      await withClient(pieceBytes, async (client) => {
        const failing = copyAll(client, 'SELECT 1 / (i - 5000) FROM generate_series(1, 10000) AS i');
        await expect(failing).rejects.toMatchObject({ code: 'copy_cut', cause: { code: '22012' } });
        expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      });
    },
  );

  it('stops the server when nobody takes the blocks, and goes on when somebody does', async () => {
    await withClient(Infinity, async (client) => {
      const copy = CopyOut.start({
        client,
        statement: "COPY (SELECT repeat('x', 999) FROM generate_series(1, 50000)) TO STDOUT",
        blockBytes: 64 * 1024,
        idleSecondsMax: 1,
      });
      const iterator = copy[Symbol.asyncIterator]();
      await iterator.next();
      await new Promise((resolve) => setTimeout(resolve, 1500)); // longer than the watchdog's patience with the server
      const bytesRead = socketOf(client).bytesRead;
      let rows = 0;
      for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
        rows += step.value.rows;
        copy.recycle(step.value);
      }
      expect(rows).toBe(50_000 - 65);
      expect(bytesRead).toBeLessThan(1024 * 1024); // of 50 MB
    });
  });

  it('ends when its signal fires, also before it starts', async () => {
    await withClient(Infinity, async (client) => {
      const abort = new AbortController();
      const copying = copyAll(client, 'SELECT pg_sleep(5)', { signal: abort.signal });
      setTimeout(() => abort.abort(), 50);
      await expect(copying).rejects.toMatchObject({ code: 'interrupted' });
      socketOf(client).destroy();
    });
    await withClient(Infinity, async (client) => {
      await expect(copyAll(client, 'SELECT 1', { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'interrupted',
      });
      socketOf(client).destroy();
    });
  });
});
