import { Seeded } from '../runtime/seeded.ts';

/** Numbers that look random and are the same for the same seed. */
export class RandomNumbers extends Seeded {
  /** From 0 to below 1. */
  unit(): number {
    return this.next();
  }

  /** Mean 0, variance 1. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }
}
