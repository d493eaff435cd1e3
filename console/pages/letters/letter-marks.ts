import type { Severity, Place, PlacedFinding, ShownFind } from '../../answers/letter-answers.ts';
import type { Json } from '../../answers/json.ts';

/** Ranks of the severities of findings, the worst first. */
export const severityRanks = { reject: 0, review: 1, note: 2, pass: 3 } as const satisfies Record<Severity, number>;

const severitiesWorstFirst = Object.keys(severityRanks) as Severity[];

/** A rectangle on a page, with everything that was read there. */
export interface Mark {
  readonly id: string;
  /** Its number on the page and next to each finding, in reading order. */
  readonly number: number;
  readonly page: number;
  readonly box: NonNullable<Json<Place>['box']>;
  /** The worst of its findings and finds. */
  readonly severity: string;
  /** Description of what was read there. */
  readonly words: string;
}

/** The id of a place's mark; null if the place has no rectangle. */
export function markIdOf(place: Json<Place> | null): string | null {
  if (place === null || place.box === null) return null;
  const { top, left } = place.box;
  return `mark-${place.page}-${Math.round(top * 10_000)}-${Math.round(left * 10_000)}`;
}

interface Entry {
  readonly place: Json<Place> | null;
  readonly severity: string;
  readonly words: string;
}

/** The severity of a mark, and the colour of an entry, by what was found. */
const severityOfFind = {
  found: 'field',
  unclear: 'review',
  'not found': 'review',
  'not requested': 'note',
} as const satisfies Record<ShownFind['state'], string>;

/** The marks of a letter: one for each place of a finding or a find. */
export function marksOf(findings: readonly Json<PlacedFinding>[], finds: readonly Json<ShownFind>[]): Mark[] {
  const entries: Entry[] = [
    ...findings.map(({ place, severity, code }) => ({ place, severity, words: code })),
    ...finds.map(({ place, name, state }) => ({ place, severity: severityOfFind[state], words: name })),
  ];
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const id = markIdOf(entry.place);
    if (id !== null) groups.set(id, [...(groups.get(id) ?? []), entry]);
  }
  const unnumbered = [...groups].map(([id, group]) => ({
    id,
    page: group[0]!.place!.page,
    box: group[0]!.place!.box!,
    severity: worstOf(group),
    words: [...new Set(group.map(({ words }) => words))].join(', '),
  }));
  unnumbered.sort((a, b) => a.page - b.page || a.box.top - b.box.top || a.box.left - b.box.left);
  return unnumbered.map((mark, at) => ({ ...mark, number: at + 1 }));
}

function worstOf(group: readonly Entry[]): string {
  return severitiesWorstFirst.find((severity) => group.some((entry) => entry.severity === severity)) ?? 'field';
}

/** Position of a page's picture, rotated clockwise about its centre, in a frame of the size of the rotated page. */
export function turnedPicture({
  width,
  height,
  turned,
}: {
  readonly width: number;
  readonly height: number;
  readonly turned: number;
}): Record<string, string> {
  if (turned === 0) return {};
  const isOnItsSide = Math.round(turned / 90) % 2 !== 0;
  const share = isOnItsSide ? height / width : 1;
  return {
    width: `${100 * share}%`,
    height: `${100 / share}%`,
    inset: 'auto',
    left: '50%',
    top: '50%',
    transform: `translate(-50%, -50%) rotate(${turned}deg)`,
  };
}

/** Spreads items with desired heights (ascending), so that no two are closer than the gap and all fit. */
export function spread(wanted: readonly number[], { gap, height }: { gap: number; height: number }): number[] {
  const apart = Math.min(gap, wanted.length === 0 ? gap : height / wanted.length);
  const tops: number[] = [];
  for (const top of wanted) tops.push(Math.max(top, (tops.at(-1) ?? -apart) + apart));
  for (let at = tops.length - 1, most = height - apart; at >= 0; at--, most -= apart) {
    tops[at] = Math.min(tops[at]!, most);
    most = tops[at]!;
  }
  return tops;
}
