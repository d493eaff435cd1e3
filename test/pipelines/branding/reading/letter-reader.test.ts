import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { LetterReading } from '../../../../pipelines/branding/letter-reading.ts';
import {
  readLetterFile,
  renderLetterPages,
  type ChildReport,
  type LetterLimits,
} from '../../../../pipelines/branding/reading/letter-reader.ts';
import { encodeGrayPng } from '../../../../pipelines/branding/reading/ocr/png.ts';
import { letterLimits } from './letter-limits.ts';
import { at, flate, letterPdf, packedPdf, pagesPdf, pdf, plainText, stream, textAt } from './pdf-builder.ts';
import { picturePdf, scanOf } from './scan-builder.ts';
import { turnByQuarters } from '../../../../pipelines/branding/reading/ocr/straighten.ts';

async function read(bytes: Uint8Array, limits: LetterLimits = letterLimits): Promise<LetterReading> {
  const outcome = await readLetterFile({ bytes, limits });
  if (outcome.kind !== 'read') throw new Error(`${outcome.code}: ${outcome.problem}`);
  return outcome.reading;
}

const linesOf = async (bytes: Uint8Array, page = 1) =>
  (await read(bytes)).pages[page - 1]!.lines.map(({ text }) => text);

/** A name written by hand: a long curve. */
const pen = '2 w 140 95 m 160 125 180 85 200 110 c 220 135 240 85 260 105 c 280 125 290 90 310 100 c S\n';

describe('a letter in PDF', () => {
  it('gives its lines with their places and fonts', async () => {
    const fonts = `/Font << /F1 4 0 R /Hand ${at.more} 0 R >>`;
    const content = `${textAt(72, 720, 'Letter of Authorization', 14)}${textAt(72, 690, 'Signed by')} BT /Hand 18 Tf 72 660 Td (Marta Vance) Tj ET`;
    const bytes = pdf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << ${fonts} >> /Contents 5 0 R >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      stream('', content),
      '<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+BrushScript-Italic >>',
    ]);
    const { format, pages, signatures, embeddedCsv } = await read(bytes);
    expect({ format, signatures, embeddedCsv }).toEqual({ format: 'pdf', signatures: [], embeddedCsv: null });
    expect(pages).toHaveLength(1);
    expect(pages[0]).toMatchObject({ page: 1, width: 612, height: 792, source: 'text', marks: [] });
    expect(pages[0]!.lines.map(({ text, font, confidence }) => ({ text, font, confidence }))).toEqual([
      { text: 'Letter of Authorization', font: 'Helvetica', confidence: null },
      { text: 'Signed by', font: 'Helvetica', confidence: null },
      { text: 'Marta Vance', font: 'BrushScript-Italic', confidence: null },
    ]);
    const { box } = pages[0]!.lines[0]!;
    expect(box.left).toBeCloseTo(72 / 612, 3);
    expect(box.top + box.height).toBeCloseTo(1 - (720 - 0.22 * 14) / 792, 3);
  });

  it('is read out of object streams', async () => {
    const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 400] >>';
    const { pages } = await read(
      packedPdf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 1 /Kids [3 0 R] >>', page]),
    );
    expect(pages).toMatchObject([{ width: 300, height: 400, lines: [] }]);
  });

  it.each([
    [90, 792, 612],
    [180, 612, 792],
    [270, 792, 612],
  ])('on a page turned by %d degrees has its places as they are shown', async (degrees, width, height) => {
    // Lines that are level when the page is turned.
    const turn = { 90: '0 1 -1 0 612 0 cm', 180: '-1 0 0 -1 612 792 cm', 270: '0 -1 1 0 0 792 cm' }[degrees];
    const [page] = (
      await read(
        letterPdf({
          page: `/Rotate ${degrees}`,
          content: `${turn} ${textAt(100, 500, 'First line')}${textAt(100, 480, 'Second line')}`,
        }),
      )
    ).pages;
    expect(page).toMatchObject({ width, height });
    expect(page!.lines.map(({ text }) => text)).toEqual(['First line', 'Second line']);
    expect(page!.lines[0]!.box.left).toBeCloseTo(100 / width, 2);
    expect(page!.lines[0]!.box.top).toBeCloseTo((height - 500 - 7.8) / height, 2);
  });

  it('shows the part of a page that is cropped to', async () => {
    const { pages } = await read(
      letterPdf({ page: '/CropBox [100 100 500 700]', content: textAt(110, 400, 'inside') + textAt(20, 400, 'x') }),
    );
    expect(pages[0]).toMatchObject({ width: 400, height: 600 });
    expect(pages[0]!.lines.map(({ text }) => text)).toEqual(['inside']);
  });

  it('gives the values of the fields of its form, and its free texts', async () => {
    const widget = (name: string, value: string, y: number) =>
      `<< /Type /Annot /Subtype /Widget /FT /Tx /T (${name}) /V ${value} /Rect [150 ${y} 400 ${y + 16}] >>`;
    const note = '<< /Type /Annot /Subtype /FreeText /Contents (A note on the page) /Rect [72 500 300 520] >>';
    const hidden = '<< /Type /Annot /Subtype /FreeText /Contents (Nobody sees this) /F 2 /Rect [72 400 300 420] >>';
    const bytes = letterPdf({
      content: textAt(72, 700, 'Name:') + textAt(72, 670, 'Title:'),
      page: `/Annots [${at.more} 0 R ${at.more + 1} 0 R ${at.more + 2} 0 R ${at.more + 3} 0 R]`,
      more: [widget('name', '(Marta Vance)', 696), widget('title', '<FEFF0043004600D6>', 666), note, hidden],
    });
    expect(await linesOf(bytes)).toEqual(['Name: Marta Vance', 'Title: CFÖ', 'A note on the page']);
  });

  it('distinguishes pictures and strokes of a pen from rules and frames', async () => {
    const image = flate(
      '/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8',
      Buffer.alloc(4),
    );
    const content = `${plainText} 72 90 m 340 90 l S 50 50 500 700 re S q 120 0 0 40 400 720 cm /Logo Do Q ${pen}`;
    const { marks } = (
      await read(letterPdf({ content, resources: `/XObject << /Logo ${at.more} 0 R >>`, more: [image] }))
    ).pages[0]!;
    expect(marks.map(({ kind }) => kind)).toEqual(['image', 'drawing']);
    expect(marks[0]!.box.left).toBeCloseTo(400 / 612, 3);
    expect(marks[1]!.box.left).toBeCloseTo(140 / 612, 2);
  });

  it('gives strokes of a pen on a comment of its own', async () => {
    const ink = `<< /Type /Annot /Subtype /Ink /Rect [140 80 310 140] /AP << /N ${at.more + 1} 0 R >> >>`;
    const { marks } = (
      await read(
        letterPdf({
          page: `/Annots [${at.more} 0 R]`,
          more: [ink, stream('/Type /XObject /Subtype /Form /BBox [140 80 310 140]', pen)],
        }),
      )
    ).pages[0]!;
    expect(marks.map(({ kind }) => kind)).toEqual(['drawing', 'annotation']);
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

  it.each([
    ['is not drawn', 'BT 3 Tr /F1 10 Tf 72 600 Td (hidden) Tj ET', false],
    ['is white on paper', 'BT 1 g /F1 10 Tf 72 600 Td (hidden) Tj ET', false],
    ['is white by three colours', 'BT 1 1 1 rg /F1 10 Tf 72 600 Td (hidden) Tj ET', false],
    ['is white by four inks', 'BT 0 0 0 0 k /F1 10 Tf 72 600 Td (hidden) Tj ET', false],
    ['is too small for the eye', 'BT /F1 1 Tf 72 600 Td (hidden) Tj ET', false],
    ['is made small by the page', 'q 0.1 0 0 0.1 0 0 cm BT /F1 10 Tf 720 6000 Td (hidden) Tj ET Q', false],
    ['has no opacity', `/G gs BT /F1 10 Tf 72 600 Td (hidden) Tj ET`, false],
    ['is white on a dark bar', '0 0 0.5 rg 60 590 300 30 re f BT 1 g /F1 10 Tf 72 600 Td (hidden) Tj ET', true],
    ['is grey', 'BT 0.6 g /F1 10 Tf 72 600 Td (hidden) Tj ET', true],
  ])('whose text %s: %s', async (_name, content, seen) => {
    const lines = await linesOf(
      letterPdf({ content: `${plainText} ${content}`, resources: '/ExtGState << /G << /ca 0 >> >>' }),
    );
    expect(lines.includes('hidden')).toBe(seen);
    expect(lines[0]).toContain('Letter of authorization');
  });
});

describe('a scanned letter', () => {
  const numbers = ['(212) 555-0147', '+1 212 555 0163', '212-555-0188', '+1 415 555 0102'];
  const content = `${textAt(72, 720, 'LETTER OF AUTHORIZATION', 14)}${numbers.map((number, line) => textAt(72, 680 - 16 * line, `Number ${line + 1}: ${number}`)).join('')}${textAt(72, 100, 'Signature:')}`;

  it('askew and noisy is recognised, with the pen next to "Signature:"', async () => {
    const bytes = picturePdf(
      await scanOf(letterPdf({ content: `${content}${pen}140 90 m 340 90 l S` }), {
        dotsPerInch: 200,
        degrees: 2,
        noise: 60,
      }),
    );
    const [page] = (await read(bytes)).pages;
    expect(page).toMatchObject({ page: 1, width: 612, height: 792, source: 'ocr' });
    const text = page!.lines.map((line) => line.text).join('\n');
    for (const number of numbers) expect(text.replace(/\D/g, '')).toContain(number.replace(/\D/g, ''));
    expect(page!.lines.every(({ confidence }) => confidence !== null && confidence > 60)).toBe(true);
    const place = page!.lines.find((line) => line.text.startsWith('Signature'))!.box;
    const ink = page!.marks.filter(({ kind }) => kind === 'ink');
    expect(ink).toHaveLength(1);
    expect(ink[0]!.box.left).toBeGreaterThan(place.left + place.width);
    expect(Math.abs(ink[0]!.box.top + ink[0]!.box.height / 2 - place.top)).toBeLessThan(0.03);
  });

  it('with an empty place next to "Signature:" has no ink', async () => {
    const bytes = picturePdf(
      await scanOf(letterPdf({ content: `${content}140 90 m 340 90 l S` }), { dotsPerInch: 200, noise: 40 }),
    );
    expect((await read(bytes)).pages[0]!.marks).toEqual([]);
  });

  it('in PNG has one page, in pixels', async () => {
    const image = await scanOf(letterPdf({ content }), { dotsPerInch: 200 });
    const { format, pages } = await read(encodeGrayPng(image));
    expect(format).toBe('png');
    expect(pages).toMatchObject([{ page: 1, width: 1700, height: 2200, source: 'ocr' }]);
    expect(pages[0]!.lines[0]!.text).toBe('LETTER OF AUTHORIZATION');
  });

  it.each([1, 2, 3])('that lies turned by %d quarters is turned upright', async (quarters) => {
    const image = turnByQuarters(await scanOf(letterPdf({ content }), { dotsPerInch: 200 }), quarters);
    const [page] = (await read(encodeGrayPng(image))).pages;
    expect(page).toMatchObject({ width: 1700, height: 2200 });
    const text = page!.lines.map((line) => line.text).join('\n');
    for (const number of numbers) expect(text.replace(/\D/g, '')).toContain(number.replace(/\D/g, ''));
  });

  it('in a PNG of few pixels is enlarged before it is recognised', async () => {
    const image = await scanOf(letterPdf({ content }), { dotsPerInch: 90 });
    const text = (await read(encodeGrayPng(image))).pages[0]!.lines.map((line) => line.text).join('\n');
    for (const number of numbers) expect(text.replace(/\D/g, '')).toContain(number.replace(/\D/g, ''));
  });

  it('is recognised from its picture, whatever text lies hidden under it', async () => {
    const hidden = Array.from(
      { length: 20 },
      (_none, line) =>
        `BT 3 Tr /F1 10 Tf 72 ${700 - 12 * line} Td (this text says something else, and is not drawn) Tj ET`,
    ).join(' ');
    const { pages } = await read(picturePdf(await scanOf(letterPdf({ content }), { dotsPerInch: 200 }), hidden));
    expect(pages[0]!.source).toBe('ocr');
    expect(pages[0]!.lines.map(({ text }) => text).join(' ')).not.toContain('something else');
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
    ['letterTextSecondsMax', 0.001, /more than 0.001 seconds/],
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
      limits: { ...letterLimits, letterTextSecondsMax: 10 },
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
    const tooLittle = { ...letterLimits, letterTextMemoryBytesMax: 60 * 1024 * 1024 };
    await expect(readLetterFile({ bytes: letterPdf(), limits: tooLittle })).rejects.toMatchObject({ code: 'internal' });
  });

  it('keeps far within its memory on the largest honest letters', async () => {
    const reports: ChildReport[] = [];
    const page = Array.from({ length: 45 }, (_none, line) =>
      textAt(
        72,
        740 - 15 * line,
        `Number ${line}: +1 212 555 0${100 + line} of Example Harbor Bank LLC, for calls to its clients`,
      ),
    ).join('');
    const bytes = pagesPdf(Array.from({ length: 20 }, () => page));
    const outcome = await readLetterFile({ bytes, limits: letterLimits, onChild: (report) => reports.push(report) });
    expect(outcome.kind).toBe('read');
    expect(reports).toMatchObject([{ child: 'text-child', outcome: 'answered' }]);
    expect(reports[0]!.peakBytes).toBeLessThan(letterLimits.letterTextMemoryBytesMax / 2);
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
      if (!status.includes(`\nPPid:\t${parent}\n`) || !words.includes('text-child')) continue;
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
