import { ServiceError } from '../../../runtime/errors.ts';
import { wavHeaderOf } from './wav-writing.ts';

/** Audio without a header, as its sender names it: one channel. Nothing in the bytes says what they are. */
export interface RawAudio {
  readonly encoding: RawEncoding;
  /** In Hz. */
  readonly sampleRate: number;
}

/**
 * Each encoding: its tag and bits in a WAV file (RFC 2361), and its rate where it has only one. GSM has no place in WAV as
 * telephones send it.
 */
const rawEncodings = {
  mulaw: { tag: 7, bits: 8, sampleRate: null },
  alaw: { tag: 6, bits: 8, sampleRate: null },
  s16le: { tag: 1, bits: 16, sampleRate: null },
  g722: { tag: 0x28f, bits: 4, sampleRate: 16_000 },
  gsm: { tag: null, bits: null, sampleRate: 8_000 },
  vox: { tag: 0x17, bits: 4, sampleRate: null },
} as const;

type RawEncoding = keyof typeof rawEncodings;

/** Rates in Hz that are taken; below and above no recording is read. */
const rates = { least: 4_000, most: 192_000 } as const;

/** Frames of GSM 06.10 full rate: 33 bytes for 20 ms. */
const gsmFrame = { bytes: 33, samples: 160 } as const;

/**
 * The form that a text such as `mulaw@8000` names: an encoding and a rate in Hz.
 * @throws ServiceError `audio_request_invalid`
 */
export function parseRawAudio(text: string): RawAudio {
  const [name = '', rate = ''] = text.trim().toLowerCase().split('@', 2);
  const sampleRate = /^[0-9]{1,6}$/.test(rate) ? Number(rate) : NaN;
  const encoding = isRawEncoding(name) ? name : undefined;
  const only = encoding === undefined ? null : rawEncodings[encoding].sampleRate;
  if (encoding === undefined || !(sampleRate >= rates.least && sampleRate <= rates.most))
    throw rawInvalid(`${JSON.stringify(text)} is no form of raw audio.`);
  if (only !== null && sampleRate !== only) throw rawInvalid(`The rate of ${encoding} is ${only} Hz.`);
  return { encoding, sampleRate };
}

function isRawEncoding(name: string): name is RawEncoding {
  return Object.hasOwn(rawEncodings, name);
}

function rawInvalid(problem: string): ServiceError {
  return new ServiceError('audio_request_invalid', {
    operation: 'read form of raw audio',
    problem,
    hint: `Name one of ${Object.keys(rawEncodings).join(', ')} and the sample rate (${rates.least} to ${rates.most} Hz), such as mulaw@8000, gsm@8000 or g722@16000.`,
  });
}

/** What makes a file of raw audio: the bytes before and behind it. */
interface RawContainer {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** The container in which raw audio of a number of bytes is kept: WAV, and CAF for GSM. */
export function containerOfRaw({ encoding, sampleRate }: RawAudio, bytes: number): RawContainer {
  const { tag, bits } = rawEncodings[encoding];
  if (tag === null) return { head: cafHeadOfGsm(bytes), tail: Buffer.alloc(0) };
  return { head: wavHeaderOf({ tag, sampleRate, channels: 1, bits }, bytes), tail: Buffer.alloc(bytes % 2) };
}

/** The chunks before the audio of a CAF file (Apple, "Core Audio Format Specification 1.0"), whose numbers are big-endian. */
function cafHeadOfGsm(bytes: number): Buffer {
  const head = Buffer.alloc(68);
  head.write('caff', 0, 'latin1');
  head.writeUInt16BE(1, 4);
  head.write('desc', 8, 'latin1');
  head.writeBigInt64BE(32n, 12);
  head.writeDoubleBE(rawEncodings.gsm.sampleRate, 20);
  head.write('agsm', 28, 'latin1');
  head.writeUInt32BE(gsmFrame.bytes, 36);
  head.writeUInt32BE(gsmFrame.samples, 40);
  head.writeUInt32BE(1, 44);
  head.write('data', 52, 'latin1');
  head.writeBigInt64BE(BigInt(bytes + 4), 56);
  return head;
}
