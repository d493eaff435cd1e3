/** Feature vectors with their classes. */
interface LabelledRows {
  readonly rows: readonly (readonly number[])[];
  /** True for the class whose log-odds the classifier gives. */
  readonly labels: readonly boolean[];
}

/** Log-odds of a row. */
type Classifier = (row: readonly number[]) => number;

/** Ridge penalty, which keeps the weights of separable rows finite. */
const ridge = 1;

/** Newton's method doubles the correct digits with each step near the solution. */
const stepsMax = 25;
const stepMin = 1e-8;

/**
 * Logistic regression by Newton's method on standardised columns, with equal weight of both classes.
 * @throws RangeError unless both classes have a row
 */
export function fitLogisticRegression({ rows, labels }: LabelledRows): Classifier {
  const positives = labels.filter(Boolean).length;
  if (positives === 0 || positives === rows.length)
    throw new RangeError('Logistic regression needs rows of both classes.');
  const scale = scaleOf(rows);
  const inputs = rows.map((row) => [1, ...scale(row)]);
  const weightOf = (label: boolean) => rows.length / 2 / (label ? positives : rows.length - positives);
  const parameters = new Array<number>(inputs[0]!.length).fill(0);
  for (let step = 0; step < stepsMax; step++) {
    const change = newtonStep(inputs, labels, parameters, weightOf);
    for (const [at, by] of change.entries()) parameters[at]! -= by;
    if (Math.max(...change.map(Math.abs)) < stepMin) break;
  }
  return (row) => dot(parameters, [1, ...scale(row)]);
}

function newtonStep(
  inputs: readonly (readonly number[])[],
  labels: readonly boolean[],
  parameters: readonly number[],
  weightOf: (label: boolean) => number,
): number[] {
  const size = parameters.length;
  const gradient = parameters.map((parameter, at) => (at === 0 ? 0 : ridge * parameter)); // no penalty on the intercept
  const curvature = Array.from({ length: size }, (_none, at) =>
    Array.from({ length: size }, (_nothing, other) => (at === other ? (at === 0 ? 1e-9 : ridge) : 0)),
  );
  for (const [row, input] of inputs.entries()) {
    const label = labels[row]!;
    const probability = 1 / (1 + Math.exp(-dot(parameters, input)));
    const weight = weightOf(label);
    for (let at = 0; at < size; at++) {
      gradient[at]! += weight * (probability - (label ? 1 : 0)) * input[at]!;
      for (let other = 0; other <= at; other++)
        curvature[at]![other]! += weight * probability * (1 - probability) * input[at]! * input[other]!;
    }
  }
  return solve(curvature, gradient);
}

/** Solves a symmetric positive definite system, given by its lower half (Cholesky). */
function solve(matrix: number[][], right: readonly number[]): number[] {
  const size = right.length;
  const lower = matrix.map((row) => row.slice());
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let rest = matrix[row]![column]!;
      for (let at = 0; at < column; at++) rest -= lower[row]![at]! * lower[column]![at]!;
      lower[row]![column] = row === column ? Math.sqrt(Math.max(rest, 1e-12)) : rest / lower[column]![column]!;
    }
  }
  const solution = right.slice();
  for (let row = 0; row < size; row++) {
    for (let at = 0; at < row; at++) solution[row]! -= lower[row]![at]! * solution[at]!;
    solution[row]! /= lower[row]![row]!;
  }
  for (let row = size - 1; row >= 0; row--) {
    for (let at = row + 1; at < size; at++) solution[row]! -= lower[at]![row]! * solution[at]!;
    solution[row]! /= lower[row]![row]!;
  }
  return solution;
}

/** Standardises each column to mean 0 and deviation 1; a constant column to 0. */
function scaleOf(rows: readonly (readonly number[])[]): (row: readonly number[]) => number[] {
  const facts = rows[0]!.map((_value, column) => {
    const mean = rows.reduce((sum, row) => sum + row[column]!, 0) / rows.length;
    const deviation = Math.sqrt(rows.reduce((sum, row) => sum + (row[column]! - mean) ** 2, 0) / rows.length);
    return { mean, deviation };
  });
  return (row) =>
    row.map((value, column) =>
      facts[column]!.deviation < 1e-9 ? 0 : (value - facts[column]!.mean) / facts[column]!.deviation,
    );
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0);
}
