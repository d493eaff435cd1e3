/** The mean of the channels of a block; a single channel is returned as it is. */
export function mixChannels(block: readonly Float32Array[]): Float32Array {
  if (block.length === 1) return block[0]!;
  const mixed = new Float32Array(block[0]!.length);
  for (const samples of block) for (let at = 0; at < mixed.length; at++) mixed[at]! += samples[at]! / block.length;
  return mixed;
}
