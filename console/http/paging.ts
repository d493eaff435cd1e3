/** A page of a list, and where the next one begins; null at the end. `rows` has one row more than the page where there is a next one. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string | number,
): { rows: readonly Row[]; next: string | null } {
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? String(cursorOf(shown.at(-1)!)) : null };
}
