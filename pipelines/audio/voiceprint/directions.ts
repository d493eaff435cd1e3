/** The vector scaled to length 1; a zero vector stays as it is. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 ? vector.map((value) => value / length) : vector.slice();
}

/** The normalized mean of at least one vector, each normalized first. */
export function meanDirection(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]!.length);
  for (const vector of vectors) unit(vector).forEach((value, index) => (sum[index]! += value));
  return unit(sum);
}

/** Cosine of the angle between two vectors of the same dimension, from -1 to 1. */
export function cosine(a: Float32Array, b: Float32Array): number {
  const other = unit(b);
  return Math.max(
    -1,
    Math.min(
      1,
      unit(a).reduce((sum, value, index) => sum + value * other[index]!, 0),
    ),
  );
}
