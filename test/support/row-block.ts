import type { RowBlock } from '../../pipelines/caches/format/copy-rows.ts';

/** A block of whole lines as the COPY reader gives it. */
export function rowBlock(lines: readonly string[]): RowBlock {
  const starts = new Int32Array(lines.length + 1);
  lines.forEach((line, at) => (starts[at + 1] = starts[at]! + Buffer.byteLength(line)));
  return { plain: Buffer.from(lines.join('')), rows: lines.length, starts };
}
