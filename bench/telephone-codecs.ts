import { spawnSync } from 'node:child_process';

/** Names of the codecs through which the bench sends its audio; GSM 06.10 needs ffmpeg. */
export type TelephoneCodec = 'mu-law' | 'A-law' | 'GSM';

/** Samples at 8 kHz after a telephone codec. */
export function throughCodec(samples: Float32Array, codec: TelephoneCodec): Float32Array {
  if (codec === 'GSM') return throughGsm(samples);
  return samples.map(codec === 'mu-law' ? throughMuLaw : throughALaw);
}

/** True if ffmpeg is on the PATH and can code GSM 06.10. */
export function hasGsm(): boolean {
  const listed = spawnSync('ffmpeg', ['-hide_banner', '-encoders'], { encoding: 'utf8' });
  return listed.status === 0 && listed.stdout.includes('libgsm');
}

/** mu-law as ITU-T G.711 (1988) steps it: 14 bits, 8 segments of 16 steps. */
function throughMuLaw(sample: number): number {
  const magnitude = Math.min(8158, Math.abs(Math.round(sample * 8192))) + 33;
  const segment = Math.floor(Math.log2(magnitude)) - 5;
  const step = 2 ** (segment + 1);
  return (Math.sign(sample) * (Math.floor(magnitude / step) * step + step / 2 - 33)) / 8192;
}

/** A-law as ITU-T G.711 (1988) steps it: 13 bits, 7 segments of 16 steps, the lowest twice as long. */
function throughALaw(sample: number): number {
  const magnitude = Math.min(4095, Math.floor(Math.abs(sample) * 4096));
  const step = 2 ** Math.max(1, Math.floor(Math.log2(Math.max(magnitude, 1))) - 4);
  return ((sample < 0 ? -1 : 1) * (Math.floor(magnitude / step) * step + step / 2)) / 4096;
}

function throughGsm(samples: Float32Array): Float32Array {
  const pcm = Int16Array.from(samples, (sample) => Math.max(-1, Math.min(1, sample)) * 32_767);
  const coded = runFfmpeg(
    ['-f', 's16le', '-ar', '8000', '-ac', '1', '-i', 'pipe:0', '-c:a', 'libgsm', '-f', 'gsm', 'pipe:1'],
    Buffer.from(pcm.buffer),
  );
  const decoded = floatsOf(
    runFfmpeg(['-f', 'gsm', '-i', 'pipe:0', '-f', 'f32le', '-ar', '8000', '-ac', '1', 'pipe:1'], coded),
  );
  const same = new Float32Array(samples.length); // the last block of GSM is filled up
  same.set(decoded.subarray(0, samples.length));
  return same;
}

/** Any file that ffmpeg reads, mono at 8 kHz. */
export function readWithFfmpeg(file: string): Float32Array {
  return floatsOf(runFfmpeg(['-i', file, '-f', 'f32le', '-ar', '8000', '-ac', '1', 'pipe:1'], Buffer.alloc(0)));
}

function runFfmpeg(parameters: readonly string[], input: Buffer): Buffer {
  const run = spawnSync('ffmpeg', ['-v', 'error', ...parameters], { input, maxBuffer: 1 << 30 });
  if (run.status !== 0)
    throw new Error(`ffmpeg ${parameters.join(' ')} failed: ${run.error?.message ?? run.stderr.toString()}`);
  return run.stdout;
}

function floatsOf(bytes: Buffer): Float32Array {
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~3)));
}
