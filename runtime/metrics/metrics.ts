import type { LabelsOf, NameOf } from './metric-table.ts';

/** Sets one sample of a gauge. */
export type SetGauge<Name extends NameOf<'gauge'>> = <Each extends Name>(
  name: Each,
  labels: LabelsOf<Each>,
  value: number,
) => void;

/** The metrics of one process, by the names of the closed list. */
export interface Metrics {
  /** Raises a counter. Default: by 1. */
  count<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  /** Raises or lowers a gauge. */
  change<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, by: number): void;
  /** Sets a gauge. */
  set<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Adds a value to a histogram. */
  observe<Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /**
   * Registers what is read at each scrape: the gauges of these names have no sample but those that `read` sets. A reader that
   * throws leaves them without one.
   */
  atScrape<Name extends NameOf<'gauge'>>(
    names: readonly Name[],
    read: (set: SetGauge<Name>) => void | Promise<void>,
  ): void;
}

/** The metrics of a program that serves none, such as a command. */
export const unmeasured: Metrics = { count() {}, change() {}, set() {}, observe() {}, atScrape() {} };
