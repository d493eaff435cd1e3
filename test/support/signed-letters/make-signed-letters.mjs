// Makes the letters of this folder again: one text by four producers, each signed by two tools, and the root certificate.
// The keys are made for each run and deleted with the folder of work: what is kept is signed bytes only.
//
// Usage: node test/support/signed-letters/make-signed-letters.mjs PACKAGES
// PACKAGES: a folder in which `npm install --ignore-scripts pdf-lib@1.17.1 @signpdf/signpdf@3.3.0 @signpdf/signer-p12@3.3.0
// @signpdf/placeholder-plain@3.3.0` was run. On the PATH: soffice, chromium, ps2pdf, pdfsig, openssl, pk12util, certutil.
// The kept files were made with LibreOffice 7.4.7, Chromium 156, Ghostscript 10.00, pdf-lib 1.17.1, pdfsig of poppler 22.12,
// @signpdf 3.3.0.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const packages = createRequire(join(resolve(process.argv[2] ?? '.'), 'package.json'));
const { PDFDocument, StandardFonts } = packages('pdf-lib');
const { SignPdf } = packages('@signpdf/signpdf');
const { P12Signer } = packages('@signpdf/signer-p12');
const { plainAddPlaceholder } = packages('@signpdf/placeholder-plain');

const lines = [
  'Wrenfield Tea Traders LLC',
  '18 Alder Lane, Coppermouth, OR 97999',
  '',
  'Letter of authorization',
  '',
  'Wrenfield Tea Traders LLC authorizes the branding of its outbound calls. Calls show the name Wrenfield Tea.',
  'The following telephone numbers are to be branded:',
  '+1 202 555 0143',
  '+1 202 555 0144',
  '',
  'Name: Ines Marwick',
  'Title: Managing Director',
  'Date: 2 March 2026',
];

const work = mkdtempSync(join(tmpdir(), 'signed-letters-'));
const run = (command, ...args) => execFileSync(command, args, { cwd: work, stdio: ['ignore', 'pipe', 'pipe'] });

try {
  makeKeys();
  const letters = {
    libreoffice: byLibreOffice(),
    chromium: byChromium(),
    ghostscript: byGhostscript(),
    'pdf-lib': await byPdfLib(),
  };
  for (const [producer, bytes] of Object.entries(letters)) {
    writeFileSync(join(here, `${producer}-pdfsig.pdf.gz`), gzipSync(signWithPdfsig(bytes), { level: 9 }));
    writeFileSync(join(here, `${producer}-signpdf.pdf.gz`), gzipSync(await signWithSignpdf(bytes), { level: 9 }));
  }
  writeFileSync(join(here, 'root.pem'), readFileSync(join(work, 'root.pem')));
} finally {
  rmSync(work, { recursive: true });
}

/** A root and a signer, valid for 30 years. */
function makeKeys() {
  const days = ['-days', '10957'];
  writeFileSync(
    join(work, 'signer.ext'),
    'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature,nonRepudiation\nextendedKeyUsage=emailProtection\n',
  );
  run(
    'openssl',
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'root.key',
    '-out',
    'root.pem',
    '-subj',
    '/O=Example Trust Services/CN=Example Root (not for trust)',
    ...days,
    '-addext',
    'keyUsage=critical,keyCertSign,cRLSign',
  );
  run(
    'openssl',
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'signer.key',
    '-out',
    'signer.csr',
    '-subj',
    '/O=Wrenfield Tea Traders LLC/CN=Ines Marwick',
  );
  run(
    'openssl',
    'x509',
    '-req',
    '-in',
    'signer.csr',
    '-CA',
    'root.pem',
    '-CAkey',
    'root.key',
    '-CAcreateserial',
    '-out',
    'signer.pem',
    '-extfile',
    'signer.ext',
    ...days,
  );
  run(
    'openssl',
    'pkcs12',
    '-export',
    '-legacy',
    '-inkey',
    'signer.key',
    '-in',
    'signer.pem',
    '-certfile',
    'root.pem',
    '-name',
    'signer',
    '-passout',
    'pass:',
    '-out',
    'signer.p12',
  );
  mkdirSync(join(work, 'nss'));
  run('certutil', '-N', '-d', 'sql:nss', '--empty-password');
  run('pk12util', '-i', 'signer.p12', '-d', 'sql:nss', '-W', '', '-K', '');
}

function byLibreOffice() {
  writeFileSync(join(work, 'letter.txt'), lines.join('\n'));
  run(
    'soffice',
    '--headless',
    `-env:UserInstallation=file://${work}/profile`,
    '--convert-to',
    'pdf:writer_pdf_Export',
    'letter.txt',
  );
  return readFileSync(join(work, 'letter.pdf'));
}

function byChromium() {
  writeFileSync(
    join(work, 'page.html'),
    `<!doctype html><meta charset="utf-8"><title>Letter</title><style>body { font: 11pt sans-serif }</style>${lines.map((line) => `<p>${line || '&nbsp;'}</p>`).join('')}`,
  );
  run(
    'chromium',
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-pdf-header-footer',
    '--print-to-pdf=printed.pdf',
    'page.html',
  );
  return readFileSync(join(work, 'printed.pdf'));
}

function byGhostscript() {
  const shown = lines.map((line, at) => `72 ${720 - at * 24} moveto (${line.replace(/[\\()]/g, '\\$&')}) show`);
  writeFileSync(
    join(work, 'letter.ps'),
    `%!PS\n/Helvetica findfont 11 scalefont setfont\n${shown.join('\n')}\nshowpage\n`,
  );
  run('ps2pdf', 'letter.ps', 'distilled.pdf');
  return readFileSync(join(work, 'distilled.pdf'));
}

async function byPdfLib() {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  const page = document.addPage([612, 792]);
  for (const [at, line] of lines.entries()) page.drawText(line, { x: 72, y: 720 - at * 24, size: 11, font });
  return Buffer.from(await document.save({ useObjectStreams: false }));
}

/** pdfsig embeds a whole font for what the signature shows; with a font of dingbats as the only one that is 20 KB. */
function signWithPdfsig(bytes) {
  writeFileSync(join(work, 'unsigned.pdf'), bytes);
  mkdirSync(join(work, 'fonts'), { recursive: true });
  copyFileSync('/usr/share/fonts/opentype/urw-base35/D050000L.otf', join(work, 'fonts', 'only.otf'));
  writeFileSync(
    join(work, 'fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${work}/fonts</dir><cachedir>${work}/cache</cachedir></fontconfig>`,
  );
  run(
    'env',
    `FONTCONFIG_FILE=${work}/fonts.conf`,
    'pdfsig',
    '-nssdir',
    'sql:nss',
    '-add-signature',
    '-nick',
    'signer',
    'unsigned.pdf',
    'signed.pdf',
  );
  return readFileSync(join(work, 'signed.pdf'));
}

async function signWithSignpdf(bytes) {
  const certificate = readFileSync(join(work, 'signer.p12'));
  const signingTime = new Date();
  const pdfBuffer = plainAddPlaceholder({
    pdfBuffer: bytes,
    reason: 'Authorization',
    contactInfo: '',
    name: 'Ines Marwick',
    location: '',
    signingTime,
  });
  return new SignPdf().sign(pdfBuffer, new P12Signer(certificate, { passphrase: '' }), signingTime);
}
