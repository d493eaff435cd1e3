import { createReadStream, type Dirent } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import { z } from 'zod';
import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { isStorable } from '../../../runtime/stored-text.ts';
import { readLines } from '../../rows/feed-lines.ts';
import { readFeedRows, type RowFormat } from '../../rows/feed-rows.ts';
import { parseRawAudio, type RawAudio } from '../decode/raw-audio.ts';
import type { SubmittedItem } from './batch-items.ts';

/** What a path names: one recording, a folder of them, or a list. */
export interface ItemSource {
  readonly kind: 'file' | 'folder' | 'list';
  readonly name: string;
  readonly count: number;
  /** Reads it again, an item at a time. */
  items(): AsyncIterable<SubmittedItem>;
}

/** Bytes of a row of a list: a path of 4,096 bytes is the longest that Linux takes. */
const lineBytesMax = 16 * 1024;

/** Characters that results show of a source; longer paths are cut, a longer `name` of a list is refused. */
const sourceCharactersMax = 4096;

/**
 * Opens what a path names. A list ends with `.csv`, `.tsv`, `.jsonl` or `.ndjson`; all of it is checked first, so that an invalid
 * row refuses it before anything is submitted. A folder is walked twice, too: its files are counted first, for the limit and the
 * progress. `raw` is the form of the recordings for which a list names none.
 * @throws ServiceError `recording_refused` if nothing is there, `audio_list_invalid`, `batch_too_large`
 */
export async function openItemSource(
  path: string,
  { batchItemsMax }: { batchItemsMax: number },
  raw?: RawAudio,
): Promise<ItemSource> {
  const stats = await lstat(path).catch((cause: unknown) => {
    throw new ServiceError('recording_refused', {
      operation: 'open recording',
      object: path,
      problem: 'The file does not exist, or may not be read.',
      cause,
    });
  });
  const kind = stats.isDirectory() ? 'folder' : rowReaderOf(path) !== undefined ? 'list' : 'file';
  const items = () => withRaw(itemsAt(kind, path), raw);
  let count = 0;
  for await (const _item of items()) {
    count += 1;
    if (count > batchItemsMax)
      throw new ServiceError('batch_too_large', {
        operation: 'open recordings',
        object: path,
        problem: `There are more than ${batchItemsMax} recordings.`,
        hint: 'Split them into several batches, or raise BATCH_ITEMS_MAX.',
      });
  }
  return { kind, name: basename(resolve(path)), count, items };
}

function itemsAt(kind: ItemSource['kind'], path: string): AsyncIterable<SubmittedItem> {
  if (kind === 'folder') return walkFolder(path);
  return kind === 'list' ? readList(path) : oneFile(path);
}

async function* withRaw(items: AsyncIterable<SubmittedItem>, raw: RawAudio | undefined): AsyncGenerator<SubmittedItem> {
  for await (const item of items) yield { raw, ...item };
}

async function* oneFile(path: string): AsyncGenerator<SubmittedItem> {
  yield { path, source: path };
}

/**
 * Every file below a folder, in the order of the bytes of its path, without hidden ones and those of `except` in the folder itself. A
 * symbolic link is not followed but returned as an item, which the intake refuses.
 */
export async function* walkFolder(
  folder: string,
  except: ReadonlySet<string> = new Set(),
): AsyncGenerator<SubmittedItem> {
  const top = Buffer.from(`${folder}/`);
  for await (const path of walk(top)) {
    const source = shortenSource(path.subarray(top.length).toString());
    if (!except.has(source)) yield { path, source };
  }
}

const slash = Buffer.from('/');

/** Names are bytes: they need not be UTF-8. */
async function* walk(folder: Buffer): AsyncGenerator<Buffer> {
  const entries = (await readdir(folder, { encoding: 'buffer', withFileTypes: true })) as unknown as Dirent<Buffer>[];
  const places = entries
    .filter(({ name }) => name[0] !== 0x2e)
    .map((entry) => ({ entry, path: Buffer.concat([entry.name, entry.isDirectory() ? slash : Buffer.of()]) }));
  for (const { entry, path } of places.sort((a, b) => Buffer.compare(a.path, b.path))) {
    if (entry.isDirectory()) yield* walk(Buffer.concat([folder, path]));
    else yield Buffer.concat([folder, path]);
  }
}

/** One row of a list with its line number. */
interface ListRow {
  readonly line: number;
  readonly path: string;
  readonly model?: string | undefined;
  readonly name?: string | undefined;
  readonly raw?: string | undefined;
}

type ListRowReader = (path: string) => AsyncIterable<ListRow>;

function rowReaderOf(path: string): ListRowReader | undefined {
  const readers: Record<string, ListRowReader> = {
    '.csv': readCsvRows,
    '.tsv': readCsvRows,
    '.jsonl': readJsonRows,
    '.ndjson': readJsonRows,
  };
  return readers[extname(path).toLowerCase()];
}

/** Paths of a list are relative to the list. */
async function* readList(path: string): AsyncGenerator<SubmittedItem> {
  if (!(await lstat(path)).isFile()) throw listInvalid('The list is not a regular file.');
  await requireForm(path);
  for await (const { line, path: given, model, name, raw } of rowReaderOf(path)!(path)) {
    if (given === '') throw listInvalid(`Line ${line}: the path is missing.`);
    if (!isStorable([given, model, name, raw]))
      throw listInvalid(`Line ${line}: a text holds characters that are not allowed.`);
    if (name !== undefined && name.length > sourceCharactersMax)
      throw listInvalid(
        `Line ${line}: the name has ${name.length} characters, and at most ${sourceCharactersMax} are kept (sourceCharactersMax).`,
      );
    yield {
      path: resolve(dirname(path), given),
      source: shortenSource(name === undefined || name === '' ? given : name),
      model: model === '' ? undefined : model,
      ...(raw === undefined || raw === '' ? {} : { raw: rawOf(line, raw) }),
    };
  }
}

function rawOf(line: number, text: string): RawAudio {
  try {
    return parseRawAudio(text);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    throw listInvalid(`Line ${line}: ${error.problem} ${error.hint ?? ''}`.trimEnd());
  }
}

/** Bytes that a header of the column names fits in. */
const headerBytes = 512;

/** Refuses encodings and separators of some spreadsheet exports by name; each row would else be refused with a misleading reason. */
async function requireForm(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    const start = buffer.subarray(0, bytesRead);
    if (/^(\xff\xfe|\xfe\xff)/.test(start.toString('latin1')) || start.includes(0))
      throw listInvalid('The list is in UTF-16, and must be in UTF-8. Save it as "CSV UTF-8", or convert it.');
    const header = start.toString('latin1').split(/\r?\n|\r/, 1)[0]!;
    if (rowReaderOf(path) === readCsvRows && header.includes(';') && !/[,\t]/.test(header))
      throw listInvalid('The columns of the list are separated by semicolons; separate them by commas or tabs.');
  } finally {
    await file.close();
  }
}

const csvFormat = {
  columns: [
    { names: ['path', 'file'], required: true },
    { names: ['model'], required: false },
    { names: ['name'], required: false },
    { names: ['raw'], required: false },
  ],
  headerOptional: false,
  personal: false,
} as const satisfies RowFormat;

async function* readCsvRows(path: string): AsyncGenerator<ListRow> {
  try {
    for await (const rows of readFeedRows(createReadStream(path), csvFormat, lineBytesMax)) {
      for (const row of rows) {
        if ('refusal' in row) {
          if (row.refusal.code === 'line_empty') continue;
          throw listInvalid(`Line ${row.line}: ${row.refusal.reason}`);
        }
        const [given = '', model, name, raw] = row.values.map((value) => value.trim());
        if (row.values.some((value) => value !== '')) yield { line: row.line, path: given, model, name, raw };
      }
    }
  } catch (error) {
    if (isServiceError(error, 'feed_header_invalid') || isServiceError(error, 'feed_encoding_invalid'))
      throw listInvalid(error.problem);
    throw error;
  }
}

const jsonRow = z.strictObject({
  path: z.string().min(1),
  model: z.string().optional(),
  name: z.string().optional(),
  raw: z.string().optional(),
});

async function* readJsonRows(path: string): AsyncGenerator<ListRow> {
  for await (const { lines } of readLines(createReadStream(path), lineBytesMax)) {
    for (const line of lines) {
      if ('refusal' in line) throw listInvalid(`Line ${line.number}: ${line.refusal.reason}`);
      if (line.text.trim() !== '') yield { line: line.number, ...parseJsonRow(line.number, line.text) };
    }
  }
}

function parseJsonRow(line: number, text: string): z.output<typeof jsonRow> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw listInvalid(`Line ${line}: it is not JSON.`);
  }
  const parsed = jsonRow.safeParse(value);
  if (parsed.success) return parsed.data;
  throw listInvalid(
    `Line ${line}: ${parsed.error.issues.map((issue) => `${issue.path.join('.') || 'row'}: ${issue.message}`).join('; ')}.`,
  );
}

function shortenSource(source: string): string {
  return source.length <= sourceCharactersMax ? source : source.slice(0, sourceCharactersMax);
}

function listInvalid(problem: string): ServiceError {
  return new ServiceError('audio_list_invalid', {
    operation: 'read list',
    problem,
    hint: 'A list is a CSV with a column `path` and, if wanted, `model`, `name` and `raw`, or a JSON object with these fields in each line.',
  });
}
