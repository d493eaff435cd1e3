import type { OperationTitles } from '../../answers/operation-answers.ts';

/** Bidi controls and other invisible characters, which can make a name look like another. */
const invisible = /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u{E0000}-\u{E007F}]/gu;

/** Removes invisible and control characters from untrusted text. Preact escapes the rest. */
export function visible(text: string | null | undefined): string {
  return (text ?? '').replace(invisible, '').replace(/[\u0000-\u001F\u007F-\u009F]+/g, ' ');
}

const plainNumber = new Intl.NumberFormat('en-GB');

/** 1,234,567 */
export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? '–' : plainNumber.format(count);
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** 31.8 MiB */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return '–';
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${step === 0 ? bytes : (bytes / 1024 ** step).toFixed(1)} ${units[step]}`;
}

/** 12.4 s, 3 min 05 s, 1 h 02 min */
export function formatSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60].map((part) =>
    String(part),
  ) as [string, string, string];
  return hours === '0' ? `${minutes} min ${rest.padStart(2, '0')} s` : `${hours} h ${minutes.padStart(2, '0')} min`;
}

const ages = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;
const ageSecondsMax = 7 * 86_400;

/** `now`, `5 min ago`, `3 h ago`, `in 2 d`; the day where that is more than a week away. */
export function formatAge(date: Date, now: number): string {
  const seconds = (now - date.getTime()) / 1000;
  if (Math.abs(seconds) > ageSecondsMax) return date.toISOString().slice(0, 10);
  const [unit, size] = ages.find(([, size]) => Math.abs(seconds) >= size) ?? ['', 0];
  if (size === 0) return 'now';
  const age = `${Math.floor(Math.abs(seconds) / size)} ${unit}`;
  return seconds < 0 ? `in ${age}` : `${age} ago`;
}

/** A score from 0 to 1 with three decimals. */
export function formatScore(score: number | null | undefined): string {
  return score === null || score === undefined ? '–' : score.toFixed(3);
}

/** `performedWithoutScore`, `in_review` as words: "performed without score", "in review". */
export function asWords(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/** Titles of the operations; their type is that of the server's list. */
export const operationTitles: OperationTitles = {
  add_managed_brand: 'Add Managed Brand',
  update_managed_brand: 'Update Managed Brand',
  add_phone_number: 'Add Phone number for Branding',
};
