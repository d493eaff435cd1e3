/** A page of a list and the cursor of the next page, null on the last. `rows` has one row more than `limit` if there is a next page. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string | number,
): { rows: readonly Row[]; next: string | null } {
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? String(cursorOf(shown.at(-1)!)) : null };
}
