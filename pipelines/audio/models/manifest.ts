import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ServiceError } from '../../../runtime/errors.ts';
import { SCORE_NAMES } from '../verification.ts';
import { jsonWithSortedKeys, sha256Of } from '../../../runtime/digest.ts';

/** Limits of a manifest, documented in docs/audio-models.md. */
export const manifestLimits = {
  /** Largest graph, in bytes: what protobuf can hold. More lies in external data. */
  weightsBytesMax: 2 ** 31 - 1,
  /** Largest file of external data, in bytes, and how many a graph may have. */
  externalBytesMax: 2 ** 36,
  externalFilesMax: 64,
  /** Most memory that a manifest may ask for. */
  memoryBytesMax: 2 ** 38,
  windowSecondsMin: 0.5,
  windowSecondsMax: 30,
  /** Shortest hop as a share of the window: 16 windows over each moment of a recording. */
  hopWindowShareMin: 1 / 16,
  sampleRateMin: 4000,
  sampleRateMax: 48_000,
  targetDbfsMin: -60,
  targetDbfsMax: 0,
  fftSizeMin: 64,
  fftSizeMax: 8192,
  /** Most numbers in the input of one window: 30 s at 48 kHz as a waveform, or a spectrogram of 16 MB. */
  inputValuesMax: 4_194_304,
  batchMax: 64,
  minimumVoiceSecondsMin: 0.5,
  /** Calibration and biases outside of these are mistakes: a logit of 20 is a probability of 1 - 2e-9. */
  slopeMax: 100,
  interceptMax: 100,
  /** Conditions of a score: lengths of voice that are calibrated apart. */
  conditionsMax: 8,
  voiceSecondsFromMax: 3600,
  dimensionsMax: 4096,
  manifestBytesMax: 256 * 1024,
} as const;

const limits = manifestLimits;

const tensorName = z.string().min(1).max(200);

const rmsLevel = z.strictObject({
  kind: z.literal('rms'),
  targetDbfs: z.number().min(limits.targetDbfsMin).max(limits.targetDbfsMax),
});

const noLevel = z.strictObject({ kind: z.literal('none') });

const inputShared = {
  name: tensorName,
  sampleRate: z.number().int().min(limits.sampleRateMin).max(limits.sampleRateMax),
  /** Lowest rate of a recording; one below it is refused, never upsampled. */
  sampleRateMin: z.number().int().min(limits.sampleRateMin),
  windowSeconds: z.number().min(limits.windowSecondsMin).max(limits.windowSecondsMax),
  hopSeconds: z.number().positive(),
  padding: z.enum(['repeat', 'zero']),
  level: z.discriminatedUnion('kind', [rmsLevel, noLevel]),
};

const powerOfTwo = z
  .number()
  .int()
  .min(limits.fftSizeMin)
  .max(limits.fftSizeMax)
  .refine((size) => Number.isInteger(Math.log2(size)), 'must be a power of two');

const waveformInput = z.strictObject({ kind: z.literal('waveform'), ...inputShared });

const spectrogramInput = z.strictObject({
  kind: z.literal('power-spectrogram'),
  ...inputShared,
  frameSamples: z.number().int().positive(),
  hopSamples: z.number().int().positive(),
  fftSize: powerOfTwo,
});

const input = z.discriminatedUnion('kind', [waveformInput, spectrogramInput]).superRefine(checkInput);

/** The input of a graph: see docs/audio-models.md. */
export type ModelInput = z.output<typeof input>;

function checkInput(
  given: z.output<typeof waveformInput> | z.output<typeof spectrogramInput>,
  context: z.RefinementCtx,
): void {
  const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
  if (given.sampleRateMin > given.sampleRate) refuse('sampleRateMin', 'must not be above sampleRate');
  if (given.hopSeconds > given.windowSeconds) refuse('hopSeconds', 'must not be above windowSeconds');
  if (given.hopSeconds < given.windowSeconds * limits.hopWindowShareMin)
    refuse('hopSeconds', `must be at least ${limits.hopWindowShareMin} of windowSeconds`);
  if (given.kind === 'power-spectrogram') {
    if (given.frameSamples > given.fftSize) refuse('frameSamples', 'must not be above fftSize');
    if (given.hopSamples > given.frameSamples) refuse('hopSamples', 'must not be above frameSamples');
    if (given.frameSamples > windowSamples(given)) refuse('frameSamples', 'must not be longer than a window');
  }
  if (inputShape(given).reduce((product, size) => product * size, 1) > limits.inputValuesMax)
    refuse('windowSeconds', `makes an input of more than ${limits.inputValuesMax} values`);
}

/** Samples of one window at the model's rate. */
export function windowSamples({ sampleRate, windowSeconds }: Pick<ModelInput, 'sampleRate' | 'windowSeconds'>): number {
  return Math.round(windowSeconds * sampleRate);
}

/** Shape of the graph's input for one window, without the batch: [samples], or [frames, bins]. */
export function inputShape(given: ModelInput): readonly number[] {
  const samples = windowSamples(given);
  if (given.kind === 'waveform') return [samples];
  return [Math.floor((samples - given.frameSamples) / given.hopSamples) + 1, given.fftSize / 2 + 1];
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case');

const fileName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'must be the name of a file in the folder of the manifest');

/** A file in which a graph keeps tensors (ONNX external data): its name, as the graph names it, without a folder. */
export const externalFile = z.strictObject({
  file: fileName,
  sha256,
  bytes: z.number().int().positive().max(limits.externalBytesMax),
});

const shared = {
  schema: z.literal('model-manifest/1'),
  file: fileName,
  sha256,
  bytes: z.number().int().positive().max(limits.weightsBytesMax),
  externalData: z.array(externalFile).min(1).max(limits.externalFilesMax).optional(),
  parameters: z.number().int().nonnegative(),
  limits: z.strictObject({
    batchMax: z.number().int().min(1).max(limits.batchMax),
    /** Memory of a process that scores with it, where that is more than AUDIO_MEMORY_BYTES_MAX. */
    memoryBytes: z.number().int().positive().max(limits.memoryBytesMax).optional(),
  }),
  training: z.looseObject({}).optional(),
};

/** What the graph applied to its numbers; see `columnsPerScore`. */
const ACTIVATIONS = ['logit', 'probability', 'softmax-pair', 'logit-pair'] as const;

export type Activation = (typeof ACTIVATIONS)[number];

const calibration = z.strictObject({
  slope: z.number().positive().max(limits.slopeMax),
  intercept: z.number().min(-limits.interceptMax).max(limits.interceptMax),
});

const share = z.number().min(0).max(1);

const condition = z
  .strictObject({
    voiceSecondsFrom: z.number().min(0).max(limits.voiceSecondsFromMax),
    calibration,
    attackBelow: share,
    authenticFrom: share.nullable(),
    falseAlarm: share,
    falseAcceptance: share.nullable(),
  })
  .refine(({ authenticFrom, falseAcceptance }) => (authenticFrom === null) === (falseAcceptance === null), {
    path: ['falseAcceptance'],
    message: 'must be stated exactly where authenticFrom is',
  })
  .refine(({ authenticFrom, attackBelow }) => authenticFrom === null || authenticFrom >= attackBelow, {
    path: ['authenticFrom'],
    message: 'must not be below attackBelow',
  });

/** How a score of recordings with so much voice is calibrated, and what it is enough for. */
export type ScoreCondition = z.output<typeof condition>;

const conditions = z
  .array(condition)
  .min(1)
  .max(limits.conditionsMax)
  .refine(([first]) => first?.voiceSecondsFrom === 0, 'must begin with voiceSecondsFrom 0')
  .refine(
    (all) => all.every(({ voiceSecondsFrom }, at) => at === 0 || voiceSecondsFrom > all[at - 1]!.voiceSecondsFrom),
    'must be in the order of voiceSecondsFrom',
  );

const scoresOf = <Value extends z.ZodType>(value: Value) => z.partialRecord(z.enum(SCORE_NAMES), value);

/** The detectors of voice activity by their names in manifests. */
export const voiceDetectorNames = ['energy/1', 'telephone/2', 'combined/1'] as const;

/** Name of a detector. */
export type VoiceDetectorName = (typeof voiceDetectorNames)[number];

/** Sample rates, in Hz, that the detectors support, ascending. */
export const voiceSampleRates = [8000, 16_000] as const;

/** Names of the families of models. */
export const FAMILIES = ['phone', 'digital'] as const;

export type Family = (typeof FAMILIES)[number];

/** Canonical name of a model: `phone/v8`. */
export const modelNameForm = /^(phone|digital)\/v[0-9a-z.-]{1,40}$/;

const authenticity = z
  .strictObject({
    ...shared,
    kind: z.literal('authenticity'),
    model: z.string().regex(modelNameForm, 'must be a name such as phone/v9, in lower case'),
    input,
    output: z.strictObject({
      name: tensorName,
      layout: z
        .array(z.enum(SCORE_NAMES))
        .min(1)
        .max(SCORE_NAMES.length)
        .refine((names) => new Set(names).size === names.length, 'must name each score once'),
      activation: z.enum(ACTIVATIONS),
      polarity: z.enum(['higher-is-authentic', 'higher-is-spoof']),
    }),
    calibration: scoresOf(calibration),
    thresholds: scoresOf(z.number().gt(0).lt(1)),
    conditions: scoresOf(conditions).optional(),
    voiceActivity: z.enum(voiceDetectorNames),
    minimumVoiceSeconds: z.number().min(limits.minimumVoiceSecondsMin),
  })
  .superRefine((manifest, context) => {
    for (const part of ['calibration', 'thresholds', 'conditions'] as const) {
      if (manifest[part] === undefined) continue;
      const named = SCORE_NAMES.filter((name) => manifest[part]?.[name] !== undefined);
      const wanted = SCORE_NAMES.filter((name) => manifest.output.layout.includes(name));
      if (named.join() !== wanted.join())
        context.addIssue({
          code: 'custom',
          path: [part],
          message: `must have exactly the scores of output.layout: ${wanted.join(', ')}`,
        });
    }
    if (manifest.minimumVoiceSeconds > manifest.input.windowSeconds)
      context.addIssue({
        code: 'custom',
        path: ['minimumVoiceSeconds'],
        message: 'must not be above input.windowSeconds',
      });
  });

const voiceprint = z
  .strictObject({
    ...shared,
    kind: z.literal('voiceprint'),
    model: z.string().regex(/^voiceprint\/v?[0-9a-z.-]{1,40}$/, 'must be a name such as voiceprint/2'),
    input,
    output: z.looseObject({
      name: tensorName,
      layout: z.tuple([z.literal('embedding')]),
      dimensions: z.number().int().min(2).max(limits.dimensionsMax),
    }),
    calibration: z.looseObject({}).optional(),
    thresholds: z.looseObject({}).optional(),
    succeeds: z.array(z.string().regex(/^[0-9a-f]{64}$/, 'must be the digest of a manifest')).optional(),
    voiceActivity: z.enum(voiceDetectorNames),
    minimumVoiceSeconds: z.number().min(limits.minimumVoiceSecondsMin),
  })
  .refine(({ input: { sampleRate } }) => voiceSampleRates.some((rate) => rate === sampleRate), {
    path: ['input', 'sampleRate'],
    message: `must be ${voiceSampleRates.join(' or ')}, the rates of the voice activity detectors`,
  });

const voiceActivity = z.looseObject({
  ...shared,
  kind: z.literal('voice-activity'),
  model: z.string().min(1),
  input: z.looseObject({ name: tensorName }),
  output: z.looseObject({ name: tensorName }),
  limits: z.looseObject({}).optional(),
});

/** The forms of manifests by their `kind`. */
const manifestForms = { authenticity, voiceprint, 'voice-activity': voiceActivity } as const;

type ManifestKind = keyof typeof manifestForms;

type Manifests = { readonly [Kind in ManifestKind]: z.output<(typeof manifestForms)[Kind]> };

/** A model of authenticity: its input, its output, and how scores are made of it. */
export type ModelManifest = Manifests['authenticity'];

/** A model of voiceprints. */
export type VoiceprintManifest = Manifests['voiceprint'];

/** A detector of voice activity that is a graph. */
export type VoiceActivityManifest = Manifests['voice-activity'];

/** Columns of the output for one score. `polarity` refers to the second of a pair. */
export function columnsPerScore(activation: Activation): 1 | 2 {
  return activation === 'softmax-pair' || activation === 'logit-pair' ? 2 : 1;
}

/**
 * Checks a parsed manifest against the form of its kind.
 * @throws ServiceError `model_invalid` that names the field
 */
export function parseManifest<Kind extends ManifestKind = 'authenticity'>(
  given: unknown,
  kind?: Kind,
): Manifests[Kind] {
  const form = manifestForms[kind ?? 'authenticity'];
  const parsed = form.safeParse(given);
  if (!parsed.success)
    throw new ServiceError('model_invalid', {
      operation: 'open model',
      problem: describeIssue(parsed.error.issues[0]!),
      hint: 'docs/audio-models.md has each field.',
    });
  return parsed.data as Manifests[Kind]; // zod does not follow which form the kind chose
}

/**
 * Reads `manifest.json` of a directory. The weights are not read: `readWeights` does.
 * @throws ServiceError `model_invalid` if it is missing, no JSON, or not of the form of its kind
 */
export async function readManifest<Kind extends ManifestKind = 'authenticity'>(
  directory: string,
  kind?: Kind,
): Promise<Manifests[Kind]> {
  return parseManifest(await readManifestFile(join(directory, 'manifest.json')), kind);
}

/**
 * The JSON of a manifest's file, unchecked.
 * @throws ServiceError `model_invalid` if it is missing, too large or no JSON
 */
export async function readManifestFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw unusable(file, 'The manifest cannot be read.', cause);
  });
  if (text.length > limits.manifestBytesMax)
    throw unusable(file, `The manifest is larger than ${limits.manifestBytesMax} bytes.`);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw unusable(file, 'The manifest is no JSON.', cause);
  }
}

/**
 * Digest of a manifest, independent of the order and spacing of its JSON. It identifies the whole model, since the manifest holds
 * the digest of the weights.
 */
export function digestOfManifest(manifest: object): string {
  return sha256Of(jsonWithSortedKeys(manifest));
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  return `The manifest${path.length === 0 ? '' : `'s ${path.join('.')}`}: ${message}.`;
}

/** The problem goes into results, so the path is not part of it. */
export function unusable(file: string, problem: string, cause?: unknown): ServiceError {
  return new ServiceError('model_invalid', { operation: 'open model', object: file, problem, cause });
}
