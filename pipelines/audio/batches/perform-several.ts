/**
 * Runs `work` on each item, at most `atOnce` at a time, in the order given. After the first failure no further item is begun, and the
 * failure is thrown when the running ones have ended.
 */
export async function performSeveral<Item>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const source = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let next = source.next(); next.done !== true && failures.length === 0; next = source.next()) {
      await work(next.value).catch((error: unknown) => void failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (failures.length > 0) throw failures[0];
}
