/** Items of the first chunks of a batch: at 60 files of 8 s a second, a job of about a second. */
export const chunkItemsMin = 50;

/** After so many chunks the next ones are twice as large: 100,000 items make 675 chunks, 10 million less than 2,000. */
const chunksOfOneSize = 200;

/**
 * The job that performs an item, by its line from 1. Known before the size of the batch is, since items are stored as they come; a chunk
 * grows with its place, so that no batch has more jobs than one flow of the queue should hold.
 */
export function chunkOf(line: number): number {
  let [size, first, chunk] = [chunkItemsMin, 1, 0];
  while (line >= first + size * chunksOfOneSize) {
    first += size * chunksOfOneSize;
    chunk += chunksOfOneSize;
    size *= 2;
  }
  return chunk + Math.floor((line - first) / size);
}
