/** The vector at length 1; one without length stays as it is. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 ? vector.map((value) => value / length) : vector.slice();
}

/** Mean of vectors, each at length 1, itself at length 1. There must be one. */
export function meanDirection(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]!.length);
  for (const vector of vectors) unit(vector).forEach((value, index) => (sum[index]! += value));
  return unit(sum);
}

/** Cosine of the angle between two vectors of one length, from -1 to 1. */
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
