/**
 * The quantile of the standard normal distribution: error rates of normal scores are a straight line over it. Rational
 * approximation of Odeh and Evans (1974), good to 1.5e-8, more than a picture shows.
 * @throws RangeError outside of 0 to 1, both excluded
 */
export function probit(share: number): number {
  if (!(share > 0 && share < 1)) throw new RangeError(`${share} is no share between 0 and 1.`);
  const lower = Math.min(share, 1 - share);
  const t = Math.sqrt(-2 * Math.log(lower));
  const top = polynomial(t, [-0.322232431088, -1, -0.342242088547, -0.0204231210245, -0.453642210148e-4]);
  const bottom = polynomial(t, [0.099348462606, 0.588581570495, 0.531103462366, 0.10353775285, 0.38560700634e-2]);
  const quantile = t + top / bottom;
  return share < 0.5 ? -quantile : quantile;
}

function polynomial(x: number, coefficients: readonly number[]): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}
