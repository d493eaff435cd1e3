const pageRows = 5000;

/** Reads rows page by page, up to the limit or to the end. */
export async function readPages<Row>(
  readPage: (last: Row | undefined, limit: number) => Promise<Row[]>,
  limit = Infinity,
): Promise<Row[]> {
  const rows: Row[] = [];
  while (rows.length < limit) {
    const size = Math.min(pageRows, limit - rows.length);
    const page = await readPage(rows.at(-1), size);
    rows.push(...page);
    if (page.length < size) break;
  }
  return rows;
}
