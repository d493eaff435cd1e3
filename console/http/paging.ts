/** A page of a list: at most so many, and where the next one begins if there may be one. `rows` has one row more than the page if there is one. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string | number,
): { rows: readonly Row[]; next: string | null } {
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? String(cursorOf(shown.at(-1)!)) : null };
}
