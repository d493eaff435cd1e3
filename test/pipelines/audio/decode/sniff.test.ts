import { afterAll, describe, expect, it } from 'vitest';
import { openRecordingFile } from '../../../../pipelines/audio/decode/recording-file.ts';
import { sniffContainer, sniffLimits } from '../../../../pipelines/audio/decode/sniff.ts';
import { AudioRefusal } from '../../../../pipelines/audio/reasons.ts';
import { RecordingFolder, sampleRecording, wavFile, wavFormat } from '../../../support/audio-file.ts';
import { aiffFile, auFile, cafFile, w64File } from '../../../support/audio-containers.ts';

const folder = new RecordingFolder();
afterAll(() => folder.remove());

/** `container at` or `reason: detail`. */
async function sniff(bytes: Buffer): Promise<string> {
  const file = await openRecordingFile(folder.write('recording', bytes), 1e9);
  try {
    const { container, at } = await sniffContainer(file);
    return `${container} ${at}`;
  } catch (error) {
    if (error instanceof AudioRefusal) return `${error.reason}: ${error.detail}`;
    throw error;
  } finally {
    await file.handle.close();
  }
}

/** An ID3v2 tag with `length` bytes behind its header. */
function tag(length: number, flags = 0): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (length >> shift) & 0x7f);
  return Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, flags, ...size]), Buffer.alloc(length, 0x41)]);
}

const mp3 = sampleRecording('tone-no-header.mp3');

describe('a container', () => {
  it.each([
    ['wav', wavFile()],
    ['wav', wavFile({ id: 'RF64' })],
    ['wav', wavFile({ id: 'BW64' })],
    ['flac', sampleRecording('tone-24.flac')],
    ['ogg', sampleRecording('tone.opus')],
    ['ogg', sampleRecording('tone.ogg')],
    ['mp4', sampleRecording('tone.m4a')],
    ['mp4', sampleRecording('tone.3gp')],
    ['mp3', sampleRecording('tone-no-header.mp3')],
    ['aac', sampleRecording('tone.aac')],
    ['amr', sampleRecording('tone.amr')],
    ['amr', Buffer.from('#!AMR-WB\n')],
    ['matroska', sampleRecording('tone.webm')],
    ['asf', sampleRecording('tone.wma')],
    ['au', auFile({ data: Buffer.alloc(8) })],
    ['aiff', aiffFile({ data: Buffer.alloc(8) })],
    ['aiff', Buffer.from('FORM\0\0\0\x10AIFFCOMM')],
    ['caf', cafFile({ data: Buffer.alloc(8) })],
    ['w64', w64File({ data: Buffer.alloc(8), format: wavFormat({}) })],
  ])('of %s is known by its content', async (container, bytes) => {
    expect(await sniff(bytes)).toBe(`${container} 0`);
  });

  it('begins behind ID3 tags, however many follow each other, and behind zeros', async () => {
    expect(await sniff(Buffer.concat([tag(100), mp3]))).toBe('mp3 110');
    expect(await sniff(Buffer.concat([tag(100_000), tag(0), tag(77), mp3]))).toBe('mp3 100107');
    expect(await sniff(Buffer.concat([tag(100), Buffer.alloc(300), mp3]))).toBe('mp3 410');
    expect(await sniff(Buffer.concat([Buffer.alloc(3_000), mp3]))).toBe('mp3 3000');
    expect(await sniff(Buffer.concat([tag(20), sampleRecording('tone-24.flac')]))).toBe('flac 30');
  });

  it('begins behind a tag with a footer', async () => {
    expect(await sniff(Buffer.concat([tag(20, 0x10), Buffer.from('3DI4567890'), mp3]))).toBe('mp3 40');
  });

  it('is looked for behind as many tags as the limit, and no more', async () => {
    const tags = (count: number) => Buffer.concat([...Array.from({ length: count }, () => tag(3)), mp3]);
    expect(await sniff(tags(sniffLimits.tagsMax))).toBe(`mp3 ${13 * sniffLimits.tagsMax}`);
    expect(await sniff(tags(sniffLimits.tagsMax + 1))).toMatch(/^audio_damaged: /);
  });

  it('is an MP3 file of one frame', async () => {
    expect(await sniff(mp3.subarray(0, 108))).toBe('mp3 0'); // 24 kbit/s at 16 kHz
    expect(await sniff(Buffer.concat([mp3.subarray(0, 108), Buffer.from('TAG'), Buffer.alloc(125)]))).toBe('mp3 0');
    expect(await sniff(Buffer.concat([mp3.subarray(0, 108), Buffer.alloc(50, 1)]))).toMatch(/^format_unknown: /);
    expect(await sniff(mp3.subarray(0, 107))).toMatch(/^format_unknown: /);
  });

  it('is an AAC file if a second frame follows, also behind a tag', async () => {
    const aac = sampleRecording('tone.aac');
    const frame = ((aac[3]! & 3) << 11) | (aac[4]! << 3) | (aac[5]! >> 5);
    expect(await sniff(Buffer.concat([tag(33), aac]))).toBe('aac 43');
    expect(await sniff(aac.subarray(0, frame))).toBe('aac 0');
    expect(await sniff(aac.subarray(0, frame - 1))).toMatch(/^format_unknown: /);
    expect(await sniff(Buffer.concat([aac.subarray(0, frame), Buffer.alloc(50, 0xff)]))).toMatch(/^format_unknown: /);
  });

  it.each<[string, Buffer]>([
    ['a tag of no valid length', Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0x80, 0, 0, 0]), mp3])],
    ['a tag that ends within its header', Buffer.from('ID3\x04')],
  ])('with %s is damaged', async (_name, bytes) => {
    expect(await sniff(bytes)).toMatch(/^audio_damaged: /);
  });

  it.each<[string, Buffer]>([
    ['an AVI film', Buffer.from('RIFF\0\0\0\0AVI LIST')],
    ['a SPHERE file', Buffer.from('NIST_1A\n   1024\n')],
    ['a Creative VOC file', Buffer.from('Creative Voice File\x1a')],
    ['a SILK file', Buffer.from('\x02#!SILK_V3')],
    ['a WavPack file', Buffer.from('wvpk\0\0\0\0')],
    ["a Monkey's Audio file", Buffer.from('MAC \x96\x0f')],
  ])('that is %s is refused by that name, with what to do', async (name, bytes) => {
    expect(await sniff(bytes)).toBe(
      `format_unknown: It is ${name}, which is not read here: convert it to WAV or FLAC.`,
    );
  });

  it.each<[string, Buffer]>([
    ['a playlist', Buffer.from('#EXTM3U\nhttp://localhost/a.mp3')],
    ['a concat script', Buffer.from('ffconcat version 1.0\nfile /etc/passwd')],
    ['a markup document', Buffer.from('<?xml version="1.0"?><smil/>')],
    ['a ZIP archive', Buffer.from('PK\x03\x04')],
    ['a PDF document', Buffer.concat([tag(40), Buffer.from('%PDF-1.7')])],
  ])('that is %s is refused as no recording', async (name, bytes) => {
    expect(await sniff(bytes)).toBe(`format_unknown: It is ${name}, and not a recording.`);
  });

  it.each<[string, Buffer]>([
    ['random bytes', Buffer.from(Array.from({ length: 5_000 }, (_none, at) => (at * 7919 + (at >> 3)) & 0xff))],
    ['one byte', Buffer.from('R')],
    ['zeros', Buffer.alloc(200_000)],
    ['a tag and nothing', tag(10)],
    ['a tag longer than the file', tag(3_000).subarray(0, 100)],
    ['RIFF of no kind', Buffer.from('RIFF\0\0\0\0NONE')],
    ['text', Buffer.from('file a.wav\n')],
    ['mu-law without a header', Buffer.alloc(8_000, 0xff)],
    ['GSM without a header', sampleRecording('tone.gsm')],
    ['a FORM of no kind', Buffer.from('FORM\0\0\0\x10ILBMBMHD')],
  ])('that is %s is unknown, and never guessed', async (_name, bytes) => {
    expect(await sniff(bytes)).toBe(
      'format_unknown: Its first bytes are of no format that is read here. If it is audio without a header, say which (raw, such as mulaw@8000); else convert it to WAV or FLAC.',
    );
  });
});
