/** Slots for fingerprints, 16 MiB, of which at most three quarters are filled: more numbers are taken for a repeat. */
const slotsMax = 2 ** 22;
const filledMax = slotsMax * 0.75;

/**
 * Finds out while a file is read whether it may repeat a number, so that the database need not look: there, the search takes a third of
 * the time of a million rows that change nothing. A repeat is always found; one of ten thousand such files is taken for one.
 */
export class SeenNumbers {
  /** True if a number may have come before. */
  mayRepeat = false;
  private readonly fingerprints = new Uint32Array(slotsMax);
  private filled = 0;

  /** Adds an E.164 number. */
  add(phone: string): void {
    if (this.mayRepeat) return;
    let place = 0;
    let fingerprint = 0;
    for (let at = 1; at < phone.length; at++) {
      const digit = phone.charCodeAt(at);
      place = Math.imul(place ^ digit, 0x01000193);
      fingerprint = (Math.imul(fingerprint, 31) + digit) >>> 0;
    }
    fingerprint ||= 1; // 0 is an empty slot
    let slot = (place ^ (place >>> 15)) & (slotsMax - 1);
    while (this.fingerprints[slot] !== 0) {
      if (this.fingerprints[slot] === fingerprint) this.mayRepeat = true;
      if (this.mayRepeat) return;
      slot = (slot + 1) & (slotsMax - 1);
    }
    this.fingerprints[slot] = fingerprint;
    this.mayRepeat = ++this.filled > filledMax;
  }
}
