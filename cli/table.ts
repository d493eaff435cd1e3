/** One column of a printed table; `flushRight` for numbers. */
export interface TableColumn<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null | undefined;
}

/** Formats rows in aligned columns under their titles. Absent values become a dash. */
export function formatTable<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[]): string {
  const cells = rows.map((row) => columns.map((column) => column.value(row)));
  const texts = cells.map((line) =>
    line.map((value) => (value === null || value === undefined || value === '' ? '-' : formatValue(value))),
  );
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...texts.map((line) => line[at]!.length)));
  const flushRight = columns.map((_, at) => cells.some((line) => typeof line[at] === 'number'));
  const format = (line: string[]) =>
    line
      .map((text, at) => (flushRight[at] ? text.padStart(widths[at]!) : text.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd();
  return [format(columns.map(({ title }) => title)), ...texts.map(format)].join('\n');
}

/** A count with thousands separators: 1,234,567. */
export function formatCount(count: number): string {
  return Number.isInteger(count) ? count.toLocaleString('en-US') : count.toFixed(2);
}

/** Formats labels and values in two columns. Absent values are left out. */
export function formatFacts(facts: readonly (readonly [string, string | number | null | undefined])[]): string {
  const present = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(...present.map(([label]) => label.length));
  return present.map(([label, value]) => `${label.padEnd(width)}  ${formatValue(value!)}`).join('\n');
}

/** A time in UTC to the second. */
export function formatTime(time: Date | string | null): string | null {
  return time === null ? null : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function formatValue(value: string | number): string {
  return typeof value === 'number' ? formatCount(value) : value;
}

/** Paragraphs separated by empty lines; empty ones are left out. */
export function formatParagraphs(...paragraphs: readonly string[]): string {
  return paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
}
