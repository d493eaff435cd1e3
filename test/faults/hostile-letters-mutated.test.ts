import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LETTER_REFUSALS } from '../../pipelines/branding/letter-reading.ts';
import { readLetterFile, type ChildReport } from '../../pipelines/branding/reading/letter-reader.ts';
import { sniffLetter } from '../../pipelines/branding/reading/gate/letter-sniff.ts';
import { compiledPath } from '../../runtime/package-root.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { type Figures, inPortions, isLongRun, seed, sizes } from '../support/run-size.ts';
import { letterLimits } from '../pipelines/branding/reading/letter-limits.ts';
import {
  at,
  flate,
  letterPdf,
  packedPdf,
  pagesPdf,
  plainText,
  stream,
  textAt,
} from '../pipelines/branding/reading/pdf-builder.ts';
import { png, pngChunk } from '../pipelines/branding/reading/png-builder.ts';

const mutants = sizes.letterMutants;

const outcomes = ['read', 'scan', ...Object.keys(LETTER_REFUSALS)];

/** Whole letters that use what letters use. */
const originals: readonly Buffer[] = [
  letterPdf(),
  pagesPdf(
    [1, 2, 3].map((page) =>
      Array.from({ length: 30 }, (_none, line) =>
        textAt(72, 720 - 14 * line, `Line ${line} of page ${page}: +1 212 555 01${line}`),
      ).join(''),
    ),
  ),
  packedPdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>',
  ]),
  letterPdf({
    catalog: `/Names << /EmbeddedFiles << /Names [(a.csv) ${at.more} 0 R] >> >>`,
    more: [
      `<< /Type /Filespec /F (a.csv) /EF << /F ${at.more + 1} 0 R >> >>`,
      flate('/Type /EmbeddedFile', 'phone\n+12125550123\n'),
    ],
  }),
  letterPdf({
    catalog: `/AcroForm << /Fields [${at.more} 0 R] >>`,
    page: `/Annots [${at.more} 0 R]`,
    more: [
      `<< /Type /Annot /Subtype /Widget /Rect [72 90 300 130] /FT /Sig /T (S) /V ${at.more + 1} 0 R >>`,
      `<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /ByteRange [0 900 1200 300] /Contents <3080${'06092a864886f70d010702'.repeat(9)}> >>`,
    ],
  }),
  letterPdf({
    contentObject: flate('', `q 1 w 140 95 m 160 120 180 90 200 110 c 220 130 240 90 260 105 c S Q ${plainText}`),
    resources: `/XObject << /X ${at.more} 0 R >>`,
    more: [stream('/Type /XObject /Subtype /Form /BBox [0 0 9 9]', '0 0 1 1 re f')],
  }),
  letterPdf({ contentObject: stream('/Filter [/ASCII85Decode]', '87cURD]i,"Ebo80~>') }),
  letterPdf({
    content: 'q 612 0 0 792 0 0 cm /Im Do Q',
    resources: `/XObject << /Im ${at.more} 0 R >>`,
    more: [
      flate(
        '/Type /XObject /Subtype /Image /Width 40 /Height 30 /ColorSpace /DeviceGray /BitsPerComponent 8',
        Buffer.alloc(1200, 90),
      ),
    ],
  }),
  png({ width: 40, height: 30, rows: Buffer.alloc(41 * 30, 0) }),
  png({ width: 40, height: 30, colour: 6, interlace: 1, rows: Buffer.alloc(5000, 1) }),
];

type Mutation = (bytes: Buffer, random: () => number) => Buffer;

const place = (bytes: Buffer, random: () => number) => Math.floor(random() * bytes.length);
const huge = ['0', '-1', '2147483648', '4294967295', '99999999999999999999', '1e9', '0.00000001', '65536'];

const mutations: readonly Mutation[] = [
  (bytes, random) => {
    for (let count = 1 + Math.floor(random() * 8); count > 0; count--)
      bytes[place(bytes, random)]! ^= 1 << Math.floor(random() * 8);
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, place(bytes, random)),
  (bytes, random) => {
    const [from, length, to] = [place(bytes, random), Math.floor(random() * 400), place(bytes, random)];
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from, from + length), bytes.subarray(to)]);
  },
  (bytes, random) => {
    const other = originals[Math.floor(random() * originals.length)]!;
    const [from, to] = [place(other, random), place(bytes, random)];
    return Buffer.concat([
      bytes.subarray(0, to),
      other.subarray(from, from + Math.floor(random() * 600)),
      bytes.subarray(to),
    ]);
  },
  (bytes, random) => {
    const numbers = [...bytes.toString('latin1').matchAll(/\d+/g)];
    const chosen = numbers[Math.floor(random() * numbers.length)];
    if (chosen === undefined) return bytes;
    return Buffer.concat([
      bytes.subarray(0, chosen.index),
      Buffer.from(huge[Math.floor(random() * huge.length)]!),
      bytes.subarray(chosen.index + chosen[0].length),
    ]);
  },
  (bytes, random) => {
    const from = place(bytes, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + Math.floor(random() * 300))]);
  },
];

function mutate(random: () => number): Buffer {
  let bytes: Buffer = Buffer.from(originals[Math.floor(random() * originals.length)]!);
  for (let count = 1 + Math.floor(random() * 3); count > 0 && bytes.length > 0; count--)
    bytes = mutations[Math.floor(random() * mutations.length)]!(bytes, random);
  return bytes[0] === 0x89 && random() < 0.7 ? repairPng(bytes) : bytes;
}

/** Makes the checksums right again, so that mutants get past them. */
function repairPng(bytes: Buffer): Buffer {
  const parts = [bytes.subarray(0, 8)];
  for (let from = 8; from + 12 <= bytes.length;) {
    const end = from + 12 + bytes.readUInt32BE(from);
    if (end > bytes.length) break;
    const chunk = pngChunk(bytes.toString('latin1', from + 4, from + 8), bytes.subarray(from + 8, end - 4));
    parts.push(crc32(chunk) === 0 ? bytes.subarray(from, end) : chunk);
    from = end;
  }
  return Buffer.concat(parts);
}

async function readAlone(bytes: Buffer): Promise<string> {
  const reports: ChildReport[] = [];
  const result = await readLetterFile({ bytes, limits: letterLimits, onChild: (report) => reports.push(report) });
  for (const { child, peakBytes } of reports)
    expect(peakBytes).toBeLessThanOrEqual(
      child === 'ocr-child' ? letterLimits.letterOcrMemoryBytesMax : letterLimits.letterStructureMemoryBytesMax,
    );
  return result.kind === 'read' ? 'read' : result.code;
}

/** One child that is fed letter after letter, under the limits of the child that reads structure; a new one when it has died. */
class Feeder {
  private child: ChildProcess | undefined;
  private lines: AsyncIterator<string> | undefined;
  deaths = 0;

  async read(bytes: Buffer): Promise<string | undefined> {
    const child = (this.child ??= this.start());
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    child.stdin!.write(Buffer.concat([length, bytes]));
    const timer = setTimeout(() => child.kill('SIGKILL'), letterLimits.letterStructureSecondsMax * 1000);
    const line = await this.lines!.next();
    clearTimeout(timer);
    if (line.done !== true) return line.value;
    this.child = undefined;
    this.deaths++;
    return undefined;
  }

  end(): void {
    this.child?.kill('SIGKILL');
  }

  private start(): ChildProcess {
    const script = compiledPath('test/faults/hostile-letters-program');
    const dataKib = letterLimits.letterStructureMemoryBytesMax / 1024 - 56 * 1024;
    const child = spawn(
      '/bin/sh',
      [
        '-c',
        `ulimit -c 0; ulimit -d ${dataKib}; exec "$@"`,
        'sh',
        process.execPath,
        '--max-old-space-size=128',
        '--max-semi-space-size=8',
        '--no-warnings',
        script,
        JSON.stringify(letterLimits),
      ],
      { stdio: ['pipe', 'pipe', 'ignore'], env: {} },
    );
    child.stdin!.on('error', () => {});
    this.lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    return child;
  }
}

describe('mutants of letters', () => {
  const readEachAlone = async () => {
    const seeded = new Seeded(seed);
    const random = () => seeded.next();
    const letters = Array.from({ length: mutants }, () => mutate(random));
    const worker = async () => {
      for (let bytes = letters.pop(); bytes !== undefined; bytes = letters.pop())
        expect(outcomes).toContain(await readAlone(bytes));
    };
    await Promise.all([worker(), worker()]);
    expect(letters).toEqual([]);
  };

  const readManyInOne = async (part: { size: number; seed: number }): Promise<Figures> => {
    const seeded = new Seeded(part.seed);
    const random = () => seeded.next();
    const feeder = new Feeder();
    const counts: Record<string, number> = {};
    for (let count = 0; count < part.size; count++) {
      const bytes = mutate(random);
      const sniffed = sniffLetter(bytes);
      // A mutant that the shared child dies of, and some of those that continue to recognition, are read as a letter is.
      const fed = 'refusal' in sniffed ? sniffed.refusal : await feeder.read(bytes);
      const outcome = fed === undefined || (fed === 'read' && random() < 0.002) ? await readAlone(bytes) : fed;
      if (!outcomes.includes(outcome))
        throw new Error(`mutant ${count} ended in ${outcome}: ${bytes.toString('base64')}`);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    feeder.end();
    expect(Object.values(counts).reduce((sum, each) => sum + each, 0)).toBe(part.size);
    return { ...counts, 'deaths of the shared child': feeder.deaths };
  };

  // Written so that the run of the day has one test and the long run another, and neither is skipped.
  if (isLongRun)
    it(
      `end in an outcome within the limits, many in one child (${mutants}, seed ${seed})`,
      () => inPortions('letter mutants', { size: mutants, portion: 10_000 }, readManyInOne),
      60_000 + mutants * 50,
    );
  else it(`end in an outcome within the limits, each in a child of its own (${mutants}, seed ${seed})`, readEachAlone);
});
