import { join } from 'node:path';
import { z } from 'zod';
import { ServiceError } from '../../../runtime/errors.ts';
import { digestOfManifest, readManifest, type VoiceprintManifest } from '../models/manifest.ts';
import { shippedModelsDirectory } from '../models/shipped-models.ts';
import type { IdentityCalibration } from '../voiceprint/identity-score.ts';

/** Directory of the voiceprint model that is shipped. */
export const shippedVoiceModelDirectory = join(shippedModelsDirectory, 'voiceprint-2');

/** A voiceprint model with its thresholds. */
export interface VoiceModel {
  /** Canonical name: `voiceprint/2`. */
  readonly name: string;
  /** Identifies the whole model. Only voiceprints of the same one can be compared. */
  readonly manifestSha256: string;
  /** Directory of its manifest and its weights. */
  readonly directory: string;
  readonly calibration: IdentityCalibration;
  /** Least identity score at which the voice counts as the enrolled person's. */
  readonly identityThreshold: number;
  /** Identity score below which it counts as another's. What is between the two stays undecided. */
  readonly mismatchThreshold: number;
  /** Least cosine of a recording with the mean of the others at the enrolment. */
  readonly agreementMin: number;
  /** Digests of the manifests of earlier models with the same numbers: their voiceprints can be compared with this one. */
  readonly succeeds: readonly string[];
}

const share = z.number().gt(0).lt(1);
const factor = z.number().min(-1000).max(1000);
const seconds = z.number().positive().max(3600);

const calibrationForm = z
  .object({
    slope: factor,
    intercept: factor,
    bySeconds: z.object({ slope: factor, intercept: factor, from: seconds, to: seconds }).optional(),
  })
  .refine(
    ({ slope, bySeconds: by }) =>
      by === undefined
        ? slope > 0
        : by.from < by.to && [by.from, by.to].every((end) => slope + by.slope * Math.log(end) > 0),
    { path: ['slope'], message: 'a higher cosine must be a higher score, at all seconds of voice' },
  );

const judgementForm = z.object({
  calibration: z.object({ identity: calibrationForm }),
  thresholds: z
    .object({ identity: share, mismatch: share.optional(), agreement: z.number().min(-1).max(1) })
    .refine(({ identity, mismatch = identity }) => mismatch <= identity, {
      path: ['mismatch'],
      message: 'must not be above that of identity',
    }),
});

/**
 * Opens the voiceprint model of a directory; by default the shipped one.
 * @throws ServiceError `model_invalid`
 */
export async function openVoiceModel(directory = shippedVoiceModelDirectory): Promise<VoiceModel> {
  const manifest = await readManifest(directory, 'voiceprint');
  const { calibration, thresholds } = judgementOf(manifest);
  return {
    name: manifest.model,
    manifestSha256: digestOfManifest(manifest),
    directory,
    calibration: calibration.identity,
    identityThreshold: thresholds.identity,
    mismatchThreshold: thresholds.mismatch ?? thresholds.identity,
    agreementMin: thresholds.agreement,
    succeeds: manifest.succeeds ?? [],
  };
}

function judgementOf(manifest: VoiceprintManifest): z.output<typeof judgementForm> {
  const parsed = judgementForm.safeParse(manifest);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ServiceError('model_invalid', {
    operation: 'open voiceprint model',
    object: manifest.model,
    problem: `The manifest's ${issue!.path.join('.')}: ${issue!.message}.`,
    hint: 'docs/voiceprints.md says what it must hold.',
  });
}
