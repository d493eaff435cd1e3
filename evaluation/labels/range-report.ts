import { numbersInService, rangeRule } from '../../pipelines/labels/range-scoring.ts';
import { figureOf, rounded, share, type Bootstrap, type Figure } from './figure.ts';
import { blockSizes, type RangeInstant, type SizeFigures } from './range-walk.ts';

/** The share of reports that a limited number of ranges catches: means over the instants of a period. */
export interface RangePoint {
  /** Numbers in a range. */
  readonly size: number;
  readonly rangesMax: number;
  readonly listed: Figure;
  /** Share of the numbers in service that are in a listed range. */
  readonly covered: number;
  /** Share of the next week's reports about a number in a listed range. */
  readonly recall: Figure;
  /** In a listed range, or labelled. */
  readonly recallWithLabels: Figure;
}

/** Ranges at risk over the instants of a period, in the country of `numbersInService`. */
export interface RangeFigures {
  readonly version: string;
  /** By size and limit; the rule itself is among them. */
  readonly curve: readonly RangePoint[];
  /**
   * Of the ranges that the rule lists. The lift is the share of reports that they caught, divided by their share of the numbers in
   * service.
   */
  readonly risks: readonly { readonly risk: string; readonly ranges: Figure; readonly lift: number }[];
}

/** Limits of the curve. */
const limits = [250, 500, 1000, 2000, rangeRule.rangesMax, 4000, 5000, 8000] as const;

/** Summarizes the ranges of the instants of a period. */
export function sumUpRanges(instants: readonly RangeInstant[], bootstrap: Bootstrap): RangeFigures {
  const point = (at: number, size: number, rangesMax: number): RangePoint => {
    const figure = (value: (figures: SizeFigures, instant: RangeInstant) => number) =>
      figureOf(
        instants.map((instant) => value(instant.sizes[at]!, instant)),
        bootstrap,
      );
    const upTo = (tally: Uint32Array) => tally.subarray(1, rangesMax + 1).reduce((sum, reports) => sum + reports, 0);
    const listed = figure(({ caught }) => Math.min(rangesMax, caught.length - 1));
    return {
      size,
      rangesMax,
      listed,
      covered: rounded((listed.value * size) / numbersInService.numbers),
      recall: figure(({ caught }, { reports }) => share(upTo(caught), reports)),
      recallWithLabels: figure(({ caughtUnlabelled }, { labelled, reports }) =>
        share(labelled + upTo(caughtUnlabelled), reports),
      ),
    };
  };
  const sumOf = (value: (instant: RangeInstant) => number) =>
    instants.reduce((sum, instant) => sum + value(instant), 0);
  return {
    version: rangeRule.version,
    curve: blockSizes.flatMap((size, at) => limits.map((rangesMax) => point(at, size, rangesMax))),
    risks: rangeRule.risks.map(({ risk }, at) => {
      const covered = share(
        sumOf(({ risks }) => risks[at]!.ranges) * blockSizes[0],
        instants.length * numbersInService.numbers,
      );
      const caught = sumOf(({ risks, reports }) => share(risks[at]!.caught, reports)) / instants.length;
      return {
        risk,
        ranges: figureOf(
          instants.map(({ risks }) => risks[at]!.ranges),
          bootstrap,
        ),
        lift: rounded(share(caught, covered)),
      };
    }),
  };
}

/** The point of a curve at the rule's limit. */
export function pointOfRule({ curve }: RangeFigures): RangePoint {
  return curve.find(({ size, rangesMax }) => size === blockSizes[0] && rangesMax === rangeRule.rangesMax)!; // among the limits
}
