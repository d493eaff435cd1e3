import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { alterText } from '../../../../samples/letters/forgery.ts';
import { writePdf } from '../../../../samples/letters/pdf-file.ts';
import { PdfPage } from '../../../../samples/letters/pdf-page.ts';
import { certifySigner } from '../../../../samples/letters/sample-keys.ts';
import { findOnLetter } from '../../../../pipelines/branding/letter/letter-finds.ts';
import type { Box, LetterReading } from '../../../../pipelines/branding/letter-reading.ts';
import {
  readLetterFile,
  renderLetterPages,
  type ChildReport,
  type LetterLimits,
} from '../../../../pipelines/branding/reading/letter-reader.ts';
import { encodeGrayPng } from '../../../../pipelines/branding/reading/ocr/png.ts';
import { letterLimits } from './letter-limits.ts';
import { at, flate, letterPdf, pagesPdf, plainText, stream, textAt } from './pdf-builder.ts';
import { picturePdf, scanOf } from './scan-builder.ts';
import { turnByQuarters } from '../../../../pipelines/branding/reading/ocr/picture.ts';
import { pageForgeries } from './page-forgeries.ts';

async function read(bytes: Uint8Array, limits: LetterLimits = letterLimits): Promise<LetterReading> {
  const outcome = await readLetterFile({ bytes, limits });
  if (outcome.kind !== 'read') throw new Error(`${outcome.code}: ${outcome.problem}`);
  return outcome.reading;
}

const linesOf = async (bytes: Uint8Array, page = 1) =>
  (await read(bytes)).pages[page - 1]!.lines.map(({ text }) => text);

/** A name written by hand: a long curve. */
const pen = '2 w 140 95 m 160 125 180 85 200 110 c 220 135 240 85 260 105 c 280 125 290 90 310 100 c S\n';

const sheet = [
  [72, 720, 'LETTER OF AUTHORIZATION', 14],
  [72, 690, 'Example Harbor Bank LLC authorizes calls from'],
  [72, 660, '+1 212 555 0147'],
] as const;
const sheetContent = sheet.map(([x, y, text, size]) => textAt(x, y, text, size)).join('');
const sheetLines = sheet.map(([, , text]) => text);

describe('a letter in PDF', () => {
  it('is read from its drawn pages, with the place of each word', async () => {
    const { format, pages, signatures, embeddedCsv } = await read(letterPdf({ content: sheetContent }));
    expect({ format, signatures, embeddedCsv }).toEqual({ format: 'pdf', signatures: [], embeddedCsv: null });
    expect(pages).toHaveLength(1);
    expect(pages[0]).toMatchObject({ page: 1, width: 612, height: 792, turned: 0, ink: [] });
    const packed = (lines: readonly string[]) => lines.map((text) => text.replaceAll(' ', ''));
    expect(packed(pages[0]!.lines.map(({ text }) => text))).toEqual(packed(sheetLines));
    const { words, box, text } = pages[0]!.lines[1]!;
    expect(words.map((word) => word.text).join(' ')).toBe(text);
    expect(box.left).toBeCloseTo(72 / 612, 2);
    expect(box.top + box.height).toBeCloseTo(1 - 690 / 792, 2);
    expect(box.height).toBeLessThan(13 / 792); // as high as the words: a line is 30 points apart
    expect(words[3]!.box.left).toBeGreaterThan(words[2]!.box.left + words[2]!.box.width);
  });

  it.each(pageForgeries.map((forgery) => [forgery.name, forgery] as const))(
    'with %s has the numbers that a person sees',
    async (_name, { bytes, shown, hidden }) => {
      const reading = await read(bytes);
      const names = { legalName: 'Wrenfield Tea', dba: null, displayName: 'Wrenfield Tea' };
      const finds = findOnLetter(reading, { ...names, country: 'US', phones: [...shown, ...hidden] });
      expect(finds.requested.map(({ phone, where }) => [phone, where])).toEqual(shown.map((each) => [each, 'page']));
      expect(finds.missing).toEqual(hidden);
      expect(finds.others).toEqual([]);
    },
  );

  it.each([
    [90, 792, 612],
    [180, 612, 792],
    [270, 792, 612],
  ])('on a page turned by %d degrees has its places as they are shown', async (degrees, width, height) => {
    // Lines that are level when the page is turned.
    const turn = { 90: '0 1 -1 0 612 0 cm', 180: '-1 0 0 -1 612 792 cm', 270: '0 -1 1 0 0 792 cm' }[degrees];
    const content = `${turn} ${textAt(100, 500, 'The first line of the letter')}${textAt(100, 460, 'The second line of the letter')}`;
    const [page] = (await read(letterPdf({ page: `/Rotate ${degrees}`, content }))).pages;
    expect(page).toMatchObject({ width, height });
    expect(page!.lines.map(({ text }) => text)).toEqual([
      'The first line of the letter',
      'The second line of the letter',
    ]);
    expect(page!.lines[0]!.box.left).toBeCloseTo(100 / width, 2);
    expect(page!.lines[0]!.box.top).toBeCloseTo((height - 500 - 7.8) / height, 2);
  });

  it('shows the part of a page that is cropped to, the values of its fields and its comments', async () => {
    const look = (text: string) =>
      stream('/Type /XObject /Subtype /Form /BBox [0 0 250 16]', textAt(2, 4, text).replace('/F1', '/Helv'));
    const widget = `<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Marta Vance) /F 4 /Rect [150 596 400 612] /AP << /N ${at.more + 1} 0 R >> >>`;
    const font = '/Resources << /Font << /Helv 4 0 R >> >>';
    const { pages } = await read(
      letterPdf({
        content: `${textAt(110, 640, 'This line is inside of the page')}${textAt(20, 640, 'outside')}`,
        page: `/CropBox [100 100 500 700] /Annots [${at.more} 0 R]`,
        more: [widget, Buffer.from(look('Marta Vance').toString('latin1').replace('/BBox', `${font} /BBox`), 'latin1')],
      }),
    );
    expect(pages[0]).toMatchObject({ width: 400, height: 600 });
    expect(pages[0]!.lines.map(({ text }) => text)).toEqual(['This line is inside of the page', 'Marta Vance']);
  });

  it('distinguishes strokes of a pen and pictures from rules and frames', async () => {
    const image = flate(
      '/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8',
      Buffer.alloc(4),
    );
    const content = `${sheetContent} 72 90 m 340 90 l S 50 50 500 700 re S q 120 0 0 40 400 400 cm /Logo Do Q ${pen}`;
    const { ink } = (
      await read(letterPdf({ content, resources: `/XObject << /Logo ${at.more} 0 R >>`, more: [image] }))
    ).pages[0]!;
    expect(ink).toHaveLength(2);
    expect(ink[0]!.left).toBeCloseTo(400 / 612, 2);
    expect(ink[1]!.left).toBeCloseTo(140 / 612, 1);
  });

  it('gives the one CSV that it embeds', async () => {
    const csv = 'phone,name\n+12125550123,Straße\n';
    const bytes = letterPdf({
      catalog: `/Names << /EmbeddedFiles << /Names [(n) ${at.more} 0 R] >> >>`,
      more: [
        `<< /Type /Filespec /F (numbers.csv) /UF <FEFF006E002E006300730076> /EF << /F ${at.more + 1} 0 R >> >>`,
        flate('/Type /EmbeddedFile', Buffer.from(csv).toString('latin1')),
      ],
    });
    expect((await read(bytes)).embeddedCsv).toEqual({ name: 'n.csv', text: csv });
  });

  it('whose bytes were changed inside of what a PDF signature covers is refused unread', async () => {
    const certificate = certifySigner({ name: 'Leona Thornquill', organization: 'Brindlewick Freight LLC' });
    const page = new PdfPage({ width: 300, height: 200 });
    const signing = {
      certificate,
      signedAt: new Date('2026-05-18T10:24:00Z'),
      page: 1,
      box: { x: 20, y: 20, width: 200, height: 50 },
      lines: ['Digitally signed by Leona Thornquill'],
    };
    const signed = writePdf({ pages: [page], title: 'Letter', created: signing.signedAt, signing, compress: false });
    const reports: ChildReport[] = [];
    const outcome = await readLetterFile({
      bytes: alterText(signed, 'Digitally', 'Digitalli'),
      onChild: (report) => reports.push(report),
    });
    expect(outcome).toMatchObject({ kind: 'refused', code: 'letter_altered' });
    expect(reports.map(({ child }) => child)).toEqual(['structure-child']);
  });
});

describe('a scanned letter', () => {
  const numbers = ['(212) 555-0147', '+1 212 555 0163', '212-555-0188', '+1 415 555 0102'];
  const content = `${textAt(72, 720, 'LETTER OF AUTHORIZATION', 14)}${numbers.map((number, line) => textAt(72, 680 - 16 * line, `Number ${line + 1}: ${number}`)).join('')}${textAt(72, 100, 'Signature:')}`;
  const digitsOf = ({ pages }: LetterReading) =>
    pages[0]!.lines.map(({ text }) => text.slice(text.indexOf(':')).replace(/\D/g, ''));
  const digits = numbers.map((number) => number.replace(/\D/g, ''));

  it('askew and noisy is recognised, with the pen next to "Signature:", and places on the page as it lies', async () => {
    const scan = { dotsPerInch: 200, degrees: 2, noise: 60 };
    const straight = await read(picturePdf(await scanOf(letterPdf({ content }), { ...scan, degrees: 0 })));
    const reading = await read(
      picturePdf(await scanOf(letterPdf({ content: `${content}${pen}140 90 m 340 90 l S` }), scan)),
    );
    const [page] = reading.pages;
    expect(page).toMatchObject({ page: 1, width: 612, height: 792, turned: 0 });
    expect(digitsOf(reading)).toEqual(expect.arrayContaining(digits));
    expect(page!.lines.every(({ confidence }) => confidence > 60)).toBe(true);
    const middle = ({ left, top, width, height }: Box) => [left + width / 2 - 0.5, top + height / 2 - 0.5] as const;
    const [word, level] = [page, straight.pages[0]].map((each) =>
      middle(each!.lines.find(({ text }) => text.startsWith('Signature'))!.words[0]!.box),
    );
    const ratio = 792 / 612;
    const turned = Math.atan2(word![1] * ratio, word![0]) - Math.atan2(level![1] * ratio, level![0]);
    expect((turned * 180) / Math.PI).toBeCloseTo(2, 0);
    const place = page!.lines.find((line) => line.text.startsWith('Signature'))!.words[0]!.box;
    expect(page!.ink).toHaveLength(1);
    expect(page!.ink[0]!.left).toBeGreaterThan(place.left + place.width);
    expect(Math.abs(page!.ink[0]!.top + page!.ink[0]!.height / 2 - place.top)).toBeLessThan(0.03);
  });

  it('with an empty place next to "Signature:" has no ink', async () => {
    const bytes = picturePdf(
      await scanOf(letterPdf({ content: `${content}140 90 m 340 90 l S` }), { dotsPerInch: 200, noise: 40 }),
    );
    expect((await read(bytes)).pages[0]!.ink).toEqual([]);
  });

  it('in PNG has one page, in pixels', async () => {
    const image = await scanOf(letterPdf({ content }), { dotsPerInch: 200 });
    const { format, pages } = await read(encodeGrayPng(image));
    expect(format).toBe('png');
    expect(pages).toMatchObject([{ page: 1, width: 1700, height: 2200 }]);
    expect(pages[0]!.lines[0]!.text).toBe('LETTER OF AUTHORIZATION');
  });

  it.each([1, 2, 3])('that lies turned by %d quarters is turned upright', async (quarters) => {
    const image = turnByQuarters(await scanOf(letterPdf({ content }), { dotsPerInch: 200 }), quarters);
    const reading = await read(encodeGrayPng(image));
    expect(reading.pages[0]).toMatchObject({ width: 1700, height: 2200, turned: 360 - 90 * quarters });
    expect(digitsOf(reading)).toEqual(expect.arrayContaining(digits));
  });

  it('in a PNG of few pixels is enlarged before it is recognised', async () => {
    const image = await scanOf(letterPdf({ content }), { dotsPerInch: 90 });
    expect(digitsOf(await read(encodeGrayPng(image)))).toEqual(expect.arrayContaining(digits));
  });
});

describe('the pages of a letter as pictures', () => {
  it('come in order, in the resolution that was asked for', async () => {
    const pages = await renderLetterPages({
      bytes: pagesPdf([plainText, plainText]),
      limits: letterLimits,
      dotsPerInch: 72,
    });
    expect(pages.map(({ page }) => page)).toEqual([1, 2]);
    for (const { png } of pages)
      expect([Buffer.from(png).readUInt32BE(16), Buffer.from(png).readUInt32BE(20)]).toEqual([612, 792]);
  });

  it('are drawn coarser than asked for where they would have too many pixels', async () => {
    const [page] = await renderLetterPages({
      bytes: letterPdf(),
      limits: { ...letterLimits, letterPixelsMax: 100_000 },
      dotsPerInch: 300,
    });
    const png = Buffer.from(page!.png);
    expect(png.readUInt32BE(16) * png.readUInt32BE(20)).toBeLessThanOrEqual(100_000);
  });

  it('are none for a letter that is refused', async () => {
    const bytes = letterPdf({ catalog: '/OpenAction << /S /JavaScript /JS (1) >>' });
    expect(await renderLetterPages({ bytes, limits: letterLimits, dotsPerInch: 72 })).toEqual([]);
  });

  it('are none for a letter that cannot be drawn', async () => {
    expect(
      await renderLetterPages({ bytes: Buffer.from('%PDF-1.7 rubbish'), limits: letterLimits, dotsPerInch: 72 }),
    ).toEqual([]);
  });
});

describe('a child that reads a letter', () => {
  it.each<[keyof LetterLimits, number, RegExp]>([
    ['letterStructureSecondsMax', 0.001, /more than 0.001 seconds/],
    ['letterOutputBytesMax', 200, /more text than 200 bytes/],
  ])('is killed beyond %s', async (name, value, problem) => {
    const outcome = await readLetterFile({ bytes: letterPdf(), limits: { ...letterLimits, [name]: value } });
    expect(outcome).toMatchObject({
      kind: 'refused',
      code: 'letter_limit_exceeded',
      problem: expect.stringMatching(problem) as string,
    });
  });

  it('beyond its memory is ended', async () => {
    const image = await scanOf(letterPdf(), { dotsPerInch: 75 });
    const outcome = await readLetterFile({
      bytes: picturePdf(image),
      limits: { ...letterLimits, letterOcrMemoryBytesMax: 170 * 1024 * 1024 },
    });
    expect(outcome).toMatchObject({ kind: 'refused', code: 'letter_limit_exceeded' });
  });

  it('that hangs is killed, and does not delay another letter', async () => {
    const { hanging, stopped } = await readAndStop({
      bytes: letterPdf({ content: textAt(72, 700, 'the one that hangs') }),
      limits: { ...letterLimits, letterStructureSecondsMax: 20 },
    });
    let isOver = false;
    void hanging.then(() => (isOver = true));
    expect((await linesOf(letterPdf()))[0]).toContain('Letter of authorization');
    expect(isOver).toBe(false);
    expect(await hanging).toMatchObject({ kind: 'refused', code: 'letter_limit_exceeded' });
    expect(existsSync(`/proc/${stopped}`)).toBe(false);
  });

  it('is killed when the work is called off', async () => {
    const calledOff = new AbortController();
    const reading = readLetterFile({ bytes: letterPdf(), limits: letterLimits, signal: calledOff.signal });
    setTimeout(() => calledOff.abort(), 30);
    await expect(reading).rejects.toMatchObject({ code: 'interrupted' });
    await expect(
      readLetterFile({ bytes: letterPdf(), limits: letterLimits, signal: calledOff.signal }),
    ).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('that cannot start is a fault and not an outcome of the letter', async () => {
    const tooLittle = { ...letterLimits, letterStructureMemoryBytesMax: 60 * 1024 * 1024 };
    await expect(readLetterFile({ bytes: letterPdf(), limits: tooLittle })).rejects.toMatchObject({ code: 'internal' });
  });

  it('keeps within its memory on dense pages', async () => {
    const reports: ChildReport[] = [];
    const page = Array.from({ length: 45 }, (_none, line) =>
      textAt(
        72,
        740 - 15 * line,
        `Number ${line}: +1 212 555 0${100 + line} of Example Harbor Bank LLC, for calls to its clients`,
      ),
    ).join('');
    const bytes = pagesPdf(Array.from({ length: 3 }, () => page));
    const outcome = await readLetterFile({ bytes, limits: letterLimits, onChild: (report) => reports.push(report) });
    expect(outcome.kind).toBe('read');
    expect(reports).toMatchObject([
      { child: 'structure-child', outcome: 'answered' },
      { child: 'ocr-child', outcome: 'answered' },
    ]);
    expect(reports[0]!.peakBytes).toBeLessThan(letterLimits.letterStructureMemoryBytesMax / 2);
  });
});

/** Reads a letter whose child is stopped before it answers; one that was faster than the stop is read again. */
async function readAndStop(
  options: Parameters<typeof readLetterFile>[0],
): Promise<{ hanging: ReturnType<typeof readLetterFile>; stopped: number }> {
  for (;;) {
    let isOver = false;
    const hanging = readLetterFile(options);
    void hanging.then(() => (isOver = true));
    const stopped = await stopChildOf(process.pid, () => isOver);
    if (stopped !== null) return { hanging, stopped };
  }
}

/** Stops the first child of a process as SIGSTOP does, and returns its id; null if it is over first. */
async function stopChildOf(parent: number, isOver: () => boolean): Promise<number | null> {
  for (;;) {
    if (isOver()) return null;
    for (const id of await readdir('/proc')) {
      const status = /^\d+$/.test(id) ? await readFile(`/proc/${id}/status`, 'utf8').catch(() => '') : '';
      const words = status === '' ? '' : await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
      if (!status.includes(`\nPPid:\t${parent}\n`) || !words.includes('structure-child')) continue;
      process.kill(Number(id), 'SIGSTOP');
      return Number(id);
    }
  }
}

describe('what a child may do', () => {
  const strace = ['/usr/bin/strace', '/bin/strace'].find((path) => existsSync(path));
  const run = promisify(execFile);

  /** The system calls of reading a letter in a process of its own and its children. */
  async function trace(calls: string, bytes: Buffer): Promise<string[]> {
    const script = `
      import { readLetterFile } from ${JSON.stringify(new URL('../../../../dist/test/pipelines/branding/reading/letter-reader-program.js', import.meta.url).href)};
      const outcome = await readLetterFile({ bytes: Buffer.from(process.argv[1], 'base64'), limits: ${JSON.stringify(letterLimits)} });
      console.log(outcome.kind);`;
    const { stdout, stderr } = await run(
      strace!,
      [
        '-f',
        '-qq',
        '-e',
        `trace=${calls}`,
        process.execPath,
        '--input-type=module',
        '-e',
        script,
        bytes.toString('base64'),
      ],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    expect(stdout).toBe('read\n');
    return stderr.split('\n');
  }

  // Where there is no strace the guard's own test below is the only one.
  if (strace !== undefined) {
    it('is neither to open a socket nor to write, make or remove a file', async () => {
      const image = await scanOf(letterPdf({ content: textAt(72, 700, 'A scanned line of text', 14) }), {
        dotsPerInch: 75,
      });
      const calls = await trace(
        'socket,connect,bind,listen,sendto,sendmsg,open,openat,creat,unlink,unlinkat,rename,renameat2,mkdir,mkdirat,link,symlink',
        picturePdf(image),
      );
      expect(calls.filter((call) => call.includes('openat(')).length).toBeGreaterThan(50);
      const wrong = calls.filter(
        (call) =>
          /\b(?:socket|connect|bind|listen|sendto|sendmsg|creat|unlink|unlinkat|rename|renameat2|mkdir|mkdirat|link|symlink)\(/.test(
            call,
          ) ||
          (/\bopen(?:at)?\(/.test(call) && /O_(?:WRONLY|RDWR|CREAT)/.test(call) && !call.includes('"/dev/null"')),
      );
      expect(wrong).toEqual([]);
    });
  }

  it('has no network in a thread of it either: each door throws', async () => {
    const guard = new URL('../../../../dist/runtime/processes/sandbox-guard.js', import.meta.url).href;
    const probe = `
      import net, { connect } from 'node:net'; import dgram from 'node:dgram'; import dns from 'node:dns'; import http from 'node:http'; import tls from 'node:tls';
      import { Worker, isMainThread, parentPort } from 'node:worker_threads';
      const doors = { connect: () => connect(1), socket: () => new net.Socket().connect(1), server: () => net.createServer(), udp: () => dgram.createSocket('udp4'), dns: () => dns.lookup('localhost', () => {}), http: () => http.get('http://localhost'), tls: () => tls.connect(1), fetch: () => fetch('http://localhost') };
      const open = []; for (const [name, door] of Object.entries(doors)) { try { door(); open.push(name); } catch (error) { if (!/no network/.test(error.message)) open.push(name); } }
      process.stdout.write(JSON.stringify(open));`;
    const inThread = `import { Worker } from 'node:worker_threads'; new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(probe)})), { execArgv: ['--import', ${JSON.stringify(guard)}] });`;
    for (const script of [probe, inThread]) {
      const { stdout } = await run(process.execPath, ['--import', guard, '--input-type=module', '-e', script]);
      expect(stdout).toBe('[]');
    }
  });
});
