/** The services that the specification labels with release names. */
export const RELEASE_SERVICES = ['audio', 'branding'] as const;

export type ReleaseService = (typeof RELEASE_SERVICES)[number];

/** A release name in its parts: `2025.08.r1`, `2025.11.r1p0` of the audio service, `2025.06-p0` of branding. */
export interface ReleaseName {
  readonly service: ReleaseService;
  readonly name: string;
  readonly year: number;
  readonly month: number;
  /** The number after `r`; null for branding, which has none. */
  readonly revision: number | null;
  /** The number after `p`; null where the name has none. */
  readonly patch: number | null;
}

const forms: Readonly<Record<ReleaseService, RegExp>> = {
  audio: /^([1-9]\d{3})\.(0[1-9]|1[0-2])\.r(?<revision>0|[1-9]\d{0,3})(?:p(?<patch>0|[1-9]\d{0,3}))?$/,
  branding: /^([1-9]\d{3})\.(0[1-9]|1[0-2])-p(?<patch>0|[1-9]\d{0,3})$/,
};

/** The parts of a release name, or undefined if the text is none. A release has one name: no number has leading zeros but the month. */
export function parseReleaseName(text: string): ReleaseName | undefined {
  for (const service of RELEASE_SERVICES) {
    const parts = forms[service].exec(text);
    if (parts === null) continue;
    const numberIn = (group: 'revision' | 'patch') => {
      const digits = parts.groups?.[group];
      return digits === undefined ? null : Number(digits);
    };
    const [year, month] = [Number(parts[1]), Number(parts[2])];
    return { service, name: text, year, month, revision: numberIn('revision'), patch: numberIn('patch') };
  }
  return undefined;
}

/**
 * Orders release names by time: below zero if the first is older. A name without `p` is older than the same with `p0`; audio comes
 * before branding.
 */
export function compareReleaseNames(a: ReleaseName, b: ReleaseName): number {
  const [keyA, keyB] = [orderOf(a), orderOf(b)];
  for (const [at, part] of keyA.entries()) {
    const difference = part - (keyB[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function orderOf({ service, year, month, revision, patch }: ReleaseName): readonly number[] {
  return [RELEASE_SERVICES.indexOf(service), year, month, revision ?? 0, patch ?? -1];
}

/** One thing that a release changed: a model of the audio service, or an operation of branding. */
interface ReleaseChange {
  readonly kind: 'introduced' | 'refined' | 'removed';
  /** `phone/v8`, or the name of an operation. */
  readonly subject: string;
  /** The replacement of a removed model; null for the others. */
  readonly replacedBy: string | null;
  readonly note: string | null;
}

/** A release and what it changed. */
interface Release extends ReleaseName {
  readonly changes: readonly ReleaseChange[];
}

const change = (
  kind: ReleaseChange['kind'],
  subject: string,
  details: Partial<Pick<ReleaseChange, 'replacedBy' | 'note'>> = {},
): ReleaseChange => ({ kind, subject, replacedBy: null, note: null, ...details });

/**
 * The releases by name, append only. Those of the audio service up to 2026.04 are the table of the specification; later ones are of
 * this service. Of branding it gives the
 * form of the names alone, so the first one is the release of this service that has its three operations.
 */
const changesByName: Readonly<Record<string, readonly ReleaseChange[]>> = {
  '2025.03.r1p0': ['phone/v1.1', 'digital/v1.1'].map((model) =>
    change('refined', model, { note: 'Refined for synthesis and replay detection.' }),
  ),
  '2025.04.r1p0': [change('introduced', 'phone/v3')],
  '2025.08.r1': [change('introduced', 'digital/v3')],
  '2025.11.r1p0': [
    change('introduced', 'phone/v5', { note: 'Default phone model, with twice the parameters of earlier versions.' }),
  ],
  '2026.02.r1p0': [
    change('introduced', 'phone/v6'),
    change('removed', 'phone/v5', { replacedBy: 'phone/v6', note: 'No longer available.' }),
  ],
  '2026.03.r1p0': [change('introduced', 'phone/v7')],
  '2026.04.r1p0': [
    change('introduced', 'phone/v8', { note: 'With an updated voice activity detector for phone-channel audio.' }),
  ],
  '2026.11.r1p0': [
    change('introduced', 'phone/v8.1', {
      note: 'The weights of phone/v8 with other calibration, open decisions and the voice detector combined/1.',
    }),
    change('introduced', 'digital/v3.1', {
      note: 'The weights of digital/v3 with other calibration, open decisions and the voice detector combined/1.',
    }),
  ],
  '2026.11.r2p0': [
    change('introduced', 'digital/v3.2', {
      note: 'The weights of digital/v3.1 with the calibration and threshold of short recordings at every length.',
    }),
  ],
  '2026.11.r3p0': [
    change('introduced', 'phone/v8.2', {
      note: 'The weights of phone/v8.1 with the calibration of short recordings at every length and a lower threshold of synthesis.',
    }),
    change('introduced', 'digital/v3.3', { note: 'The weights of digital/v3.2 with a lower threshold of synthesis.' }),
  ],
  '2026.11-p0': ['Add Managed Brand', 'Update Managed Brand', 'Add Phone number for Branding'].map((operation) =>
    change('introduced', operation),
  ),
};

/** Every release that is known, audio first, oldest first. */
export const RELEASES: readonly Release[] = Object.entries(changesByName)
  .map(([name, changes]) => ({ ...requireReleaseName(name), changes }))
  .sort(compareReleaseNames);

/** The newest release of a service. */
export function newestRelease(service: ReleaseService): Release | undefined {
  return RELEASES.findLast((release) => release.service === service);
}

function requireReleaseName(name: string): ReleaseName {
  const parsed = parseReleaseName(name);
  if (parsed === undefined) throw new Error(`${name} is not the name of a release`);
  return parsed;
}
