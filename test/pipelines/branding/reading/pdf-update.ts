import { flate, stream, type ObjectBody } from './pdf-builder.ts';

/** A row of a cross-reference table: where the object is, or that its number is free. */
interface UpdateRow {
  readonly number: number;
  readonly offset: number;
  readonly generation: number;
  readonly kind: 'n' | 'f';
}

/** What an incremental update appends; what is not said is as an honest program writes it. */
export interface UpdateParts {
  /** Bodies by number; several of one number come one after another. */
  readonly objects?: readonly (readonly [number, ObjectBody])[];
  readonly generation?: number;
  /** Changes the rows before they are written: for tables that lie. */
  readonly rows?: (rows: readonly UpdateRow[]) => readonly UpdateRow[];
  /** More entries of the trailer. */
  readonly trailer?: string;
  readonly root?: string;
  readonly previous?: number;
  /** Where the end says that the table is, if not where it is. */
  readonly startxref?: number;
  /** Bytes before the objects, and before the end. */
  readonly before?: string;
  readonly after?: string;
}

/** An object of an update by its number. */
export const object = <Body extends ObjectBody>(number: number, body: Body): readonly [number, Body] => [number, body];

/** Offset of the newest table of a file. */
export function lastTable(file: Buffer): number {
  return Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(file.toString('latin1'))![1]);
}

/** A file with an incremental update (ISO 32000-1 section 7.5.6) behind it, with a classic table. */
export function appendUpdate(
  file: Buffer,
  {
    objects = [],
    generation = 0,
    rows = (each) => each,
    trailer = '',
    root = '1 0 R',
    previous = lastTable(file),
    startxref,
    before = '',
    after = '',
  }: UpdateParts,
): Buffer {
  const parts = [file, Buffer.from(before, 'latin1')];
  let length = file.length + before.length;
  const own: UpdateRow[] = [];
  for (const [number, body] of objects) {
    own.push({ number, offset: length, generation, kind: 'n' });
    const bytes = Buffer.concat([
      Buffer.from(`${number} ${generation} obj\n`),
      Buffer.from(body as string, 'latin1'),
      Buffer.from('\nendobj\n'),
    ]);
    parts.push(bytes);
    length += bytes.length;
  }
  const table = rows(own)
    .map(
      (row) =>
        `${row.number} 1\n${String(row.offset).padStart(10, '0')} ${String(row.generation).padStart(5, '0')} ${row.kind} \n`,
    )
    .join('');
  const end = `xref\n${table}trailer\n<< /Size 100 /Root ${root} /Prev ${previous} ${trailer} >>\n${after}startxref\n${startxref ?? length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(end, 'latin1')]);
}

/** The same with a cross-reference stream, and its objects in an object stream. */
export function appendPackedUpdate(
  file: Buffer,
  objects: readonly (readonly [number, string])[],
  [container, table]: readonly [number, number] = [90, 91],
): Buffer {
  let offset = 0;
  const head = objects
    .map(([number, body]) => {
      const pair = `${number} ${offset} `;
      offset += body.length + 1;
      return pair;
    })
    .join('');
  const packed = Buffer.concat([
    Buffer.from(`${container} 0 obj\n`),
    flate(`/Type /ObjStm /N ${objects.length} /First ${head.length}`, head + objects.map(([, body]) => body).join(' ')),
    Buffer.from('\nendobj\n'),
  ]);
  const start = file.length + packed.length;
  const row = (type: number, second: number, third: number) => {
    const bytes = Buffer.alloc(6);
    bytes[0] = type;
    bytes.writeUInt32BE(second, 1);
    bytes[5] = third;
    return bytes;
  };
  const entries = [
    ...objects.map(([number], at) => ({ number, bytes: row(2, container, at) })),
    { number: container, bytes: row(1, file.length, 0) },
    { number: table, bytes: row(1, start, 0) },
  ];
  const index = entries.map(({ number }) => `${number} 1`).join(' ');
  const body = stream(
    `/Type /XRef /Size 100 /W [1 4 1] /Index [${index}] /Root 1 0 R /Prev ${lastTable(file)}`,
    Buffer.concat(entries.map(({ bytes }) => bytes)),
  );
  return Buffer.concat([
    file,
    packed,
    Buffer.from(`${table} 0 obj\n`),
    body,
    Buffer.from(`\nendobj\nstartxref\n${start}\n%%EOF\n`),
  ]);
}
