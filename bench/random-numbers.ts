import { Seeded } from '../runtime/seeded.ts';

/** The seeded generator with a normal distribution. */
export class RandomNumbers extends Seeded {
  /** Mean 0, variance 1. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }
}
