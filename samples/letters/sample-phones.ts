import { isPhoneRefusal, judgePhone } from '../../pipelines/phone/phone-number.ts';
import type { Seeded } from '../../runtime/seeded.ts';

/** Countries of the sample letters. */
export type LetterCountry = 'US' | 'CA' | 'GB' | 'DE' | 'FR' | 'ES';

/** The parts of a written number: `area` without a trunk zero. */
export interface SamplePhone {
  readonly country: LetterCountry;
  readonly code: string;
  readonly area: string;
  /** The digits after the area, in groups. */
  readonly groups: readonly string[];
}

/** E.164 of a number. */
export function toE164({ code, area, groups }: SamplePhone): string {
  return `+${code}${area}${groups.join('')}`;
}

/** Area codes of each country, with its numbers reserved for fiction if it has such. */
const areas: Readonly<Record<LetterCountry, readonly string[]>> = {
  US: ['212', '415', '305', '713', '617', '312', '206', '404', '303', '602', '503', '702', '800', '888'],
  CA: ['416', '604', '514', '403', '613', '902', '204'],
  GB: ['20', '161', '121', '113', '131', '808'],
  DE: ['30', '89', '69', '221'],
  FR: ['1', '2', '3', '4', '5'],
  ES: ['910', '930', '950', '960', '640'],
};

const reservedStarts: Readonly<Record<string, string>> = {
  '20': '7946',
  '161': '496',
  '121': '496',
  '113': '496',
  '131': '496',
  '808': '157', // GB, Ofcom
  '30': '23125',
  '89': '99998',
  '69': '90009',
  '221': '4710', // DE, Bundesnetzagentur
  '1': '9900',
  '2': '6191',
  '3': '5301',
  '4': '6571',
  '5': '3649', // FR, Arcep
};

/** Distinct valid numbers of one area, consecutive or not. */
export class PhoneSource {
  private readonly random: Seeded;
  private readonly country: LetterCountry;
  private readonly given = new Set<string>();

  constructor({ random, country }: { random: Seeded; country: LetterCountry }) {
    this.random = random;
    this.country = country;
  }

  /** A number that was not given before. */
  next(): SamplePhone {
    for (;;) {
      const phone = this.candidate();
      if (!this.given.has(toE164(phone)) && this.isValid(phone)) return this.keep(phone);
    }
  }

  /** Consecutive numbers. */
  range(count: number): SamplePhone[] {
    for (;;) {
      const first = this.candidate();
      const run = Array.from({ length: count }, (_, step) => following(first, step));
      const whole = run.every(
        (phone): phone is SamplePhone => phone !== null && !this.given.has(toE164(phone)) && this.isValid(phone),
      );
      if (whole) return (run as SamplePhone[]).map((phone) => this.keep(phone));
    }
  }

  private isValid(phone: SamplePhone): boolean {
    const judged = judgePhone(toE164(phone));
    return !isPhoneRefusal(judged) && judged.phone === toE164(phone);
  }

  private keep(phone: SamplePhone): SamplePhone {
    this.given.add(toE164(phone));
    return phone;
  }

  private candidate(): SamplePhone {
    const area = this.random.pick(areas[this.country]);
    const digits = (count: number) => Array.from({ length: count }, () => this.random.whole(0, 9)).join('');
    const start = reservedStarts[area] ?? '';
    switch (this.country) {
      case 'US':
      case 'CA':
        return { country: this.country, code: '1', area, groups: ['555', `01${digits(2)}`] };
      case 'GB':
        return { country: 'GB', code: '44', area, groups: [start, digits(4)] };
      case 'DE':
        return { country: 'DE', code: '49', area, groups: [start, digits(3)] };
      case 'FR':
        return { country: 'FR', code: '33', area, groups: [...pairs(start), digits(2), digits(2)] };
      case 'ES':
        return { country: 'ES', code: '34', area, groups: [`0${digits(2)}`, digits(3)] };
    }
  }
}

function pairs(digits: string): string[] {
  return digits.match(/../g) ?? [];
}

/** The number a given distance after another; null if more than its last two digits would change. */
function following(phone: SamplePhone, step: number): SamplePhone | null {
  const joined = phone.groups.join('');
  const last = Number(joined.slice(-2)) + step;
  if (last > 99) return null;
  const digits = joined.slice(0, -2) + String(last).padStart(2, '0');
  let place = 0;
  return { ...phone, groups: phone.groups.map((group) => digits.slice(place, (place += group.length))) };
}

/** One of the usual formats of a number in its country. */
export type PhoneForm = (phone: SamplePhone) => string;

const northAmerican: readonly PhoneForm[] = [
  ({ area, groups: [exchange, line] }) => `(${area}) ${exchange}-${line}`,
  ({ area, groups: [exchange, line] }) => `(${area}) ${exchange}-${line}`,
  ({ area, groups: [exchange, line] }) => `${area}-${exchange}-${line}`,
  ({ area, groups: [exchange, line] }) => `+1 ${area} ${exchange} ${line}`,
  ({ area, groups: [exchange, line] }) => `1-${area}-${exchange}-${line}`,
  ({ area, groups: [exchange, line] }) => `${area}.${exchange}.${line}`,
  ({ area, groups: [exchange, line] }) => `+1 (${area}) ${exchange}-${line}`,
  toE164,
];

/** The usual formats of each country, also national ones, which are ambiguous without the letter's country. */
export const phoneForms: Readonly<Record<LetterCountry, readonly PhoneForm[]>> = {
  US: northAmerican,
  CA: northAmerican,
  GB: [
    ({ area, groups }) => `0${area} ${groups.join(' ')}`,
    ({ area, groups }) => `+44 ${area} ${groups.join(' ')}`,
    ({ area, groups }) => `+44 (0)${area} ${groups.join(' ')}`,
    ({ area, groups }) => `(0${area}) ${groups.join(' ')}`,
    toE164,
  ],
  DE: [
    ({ area, groups: [start, rest] }) => `0${area} ${start}-${rest}`,
    ({ area, groups }) => `+49 ${area} ${groups.join('')}`,
    ({ area, groups }) => `0${area}/${groups.join('')}`,
    ({ area, groups: [start, rest] }) => `+49 (0)${area} ${start}-${rest}`,
    ({ area, groups: [start, rest] }) => `(0${area}) ${start} ${rest}`,
  ],
  FR: [
    ({ area, groups }) => `0${area} ${groups.join(' ')}`,
    ({ area, groups }) => `+33 ${area} ${groups.join(' ')}`,
    ({ area, groups }) => `0${area}.${groups.join('.')}`,
    ({ area, groups }) => `+33 (0)${area} ${groups.join(' ')}`,
  ],
  ES: [
    ({ area, groups }) => `${area} ${groups.join(' ')}`,
    ({ area, groups }) => `+34 ${area} ${groups.join(' ')}`,
    ({ area, groups }) => `${area} ${(groups.join('').match(/../g) ?? []).join(' ')}`,
    toE164,
  ],
};
