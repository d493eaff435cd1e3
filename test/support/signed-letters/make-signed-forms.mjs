// Makes the signed forms of this folder again: one issued form and one hybrid letter, signed by four programs, and their root certificate.
// The keys are made for each run and deleted with the folder of work: what is kept is signed bytes only.
//
// Usage: node test/support/signed-letters/make-signed-forms.mjs PACKAGES JARS FORM HYBRID
// PACKAGES: as for make-signed-letters.mjs. JARS: a folder with PDFBox 3.0.8 and Bouncy Castle (bcpkix-jdk18on 1.79) and what they need.
// FORM: a PDF of `caller-trust letter form` for the signer Ines Marwick. HYBRID: the bytes of hybridPdf() of
// test/pipelines/branding/reading/pdf-builder.ts. On the PATH: javac, java, podofosign (0.9.8), mutool (1.21), openssl.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const [, , folder = '.', jars = '.', form = '', hybrid = ''] = process.argv;
const packages = createRequire(join(resolve(folder), 'package.json'));
const { SignPdf } = packages('@signpdf/signpdf');
const { P12Signer } = packages('@signpdf/signer-p12');
const { plainAddPlaceholder } = packages('@signpdf/placeholder-plain');

const work = mkdtempSync(join(tmpdir(), 'signed-forms-'));
const run = (command, ...args) => execFileSync(command, args, { cwd: work, stdio: ['ignore', 'pipe', 'pipe'] });
const keep = (name, bytes) => writeFileSync(join(here, `${name}.pdf.gz`), gzipSync(bytes, { level: 9 }));

try {
  makeKeys();
  run('javac', '-cp', `${resolve(jars)}/*`, '-d', '.', join(here, 'PdfBoxSign.java'));
  const field = ['Signature'];
  keep('form-pdfbox-existing', byPdfBox(form, ...field));
  keep('form-pdfbox-new', byPdfBox(form));
  keep('form-podofo-existing', byPodofo(form, '-field-name', ...field, '-field-use-existing'));
  keep('form-podofo-new', byPodofo(form));
  keep('form-mupdf', byMupdf(form));
  keep('form-signpdf', await bySignpdf(readFileSync(form)));
  // Where a form does not state its type, this library damages the list of its fields.
  const untyped = readFileSync(form, 'latin1').replace('/Type /AcroForm', '/Typo /AcroForm');
  keep('form-signpdf-damaged', await bySignpdf(Buffer.from(untyped, 'latin1')));
  keep('hybrid-pdfbox', byPdfBox(hybrid));
  keep('hybrid-podofo', byPodofo(hybrid));
  writeFileSync(join(here, 'forms-root.pem'), readFileSync(join(work, 'root.pem')));
} finally {
  rmSync(work, { recursive: true });
}

/** A root and a signer, valid for 30 years; the signer's key in the old and in the new encryption of PKCS #12. */
function makeKeys() {
  const days = ['-days', '10957'];
  const key = (name) => ['-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`];
  const root = ['-subj', '/O=Example Trust Services/CN=Example Root (not for trust)'];
  run(
    'openssl',
    'req',
    '-x509',
    ...key('root'),
    '-out',
    'root.pem',
    ...root,
    ...days,
    '-addext',
    'keyUsage=critical,keyCertSign,cRLSign',
  );
  run(
    'openssl',
    'req',
    ...key('signer'),
    '-out',
    'signer.csr',
    '-subj',
    '/O=Wrenfield Tea Traders LLC/CN=Ines Marwick',
  );
  writeFileSync(
    join(work, 'signer.ext'),
    'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature,nonRepudiation\nextendedKeyUsage=emailProtection\n',
  );
  const certify = ['-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial', '-extfile', 'signer.ext', ...days];
  run('openssl', 'x509', '-req', '-in', 'signer.csr', '-out', 'signer.pem', ...certify);
  const pack = [
    'pkcs12',
    '-export',
    '-inkey',
    'signer.key',
    '-in',
    'signer.pem',
    '-name',
    'signer',
    '-passout',
    'pass:',
  ];
  run('openssl', ...pack, '-legacy', '-certfile', 'root.pem', '-out', 'signer.p12');
  run('openssl', ...pack, '-out', 'signer-new.p12');
}

function byPdfBox(path, ...field) {
  run('java', '-cp', `${resolve(jars)}/*:${work}`, 'PdfBoxSign', 'signer.p12', resolve(path), 'out.pdf', ...field);
  return readFileSync(join(work, 'out.pdf'));
}

function byPodofo(path, ...options) {
  run('podofosign', '-in', resolve(path), '-out', 'out.pdf', '-cert', 'signer.pem', '-pkey', 'signer.key', ...options);
  return readFileSync(join(work, 'out.pdf'));
}

function byMupdf(path) {
  const number = /(\d+) 0 obj\n<<(?:(?!endobj)[\s\S])*?\/FT \/Sig/.exec(readFileSync(path, 'latin1'))[1];
  run('mutool', 'sign', '-s', 'signer-new.p12', '-P', '', '-o', 'out.pdf', resolve(path), number);
  return readFileSync(join(work, 'out.pdf'));
}

async function bySignpdf(bytes) {
  const signingTime = new Date();
  const words = { reason: 'Authorization', contactInfo: '', name: 'Ines Marwick', location: '' };
  const pdfBuffer = plainAddPlaceholder({ pdfBuffer: bytes, ...words, signingTime });
  const key = new P12Signer(readFileSync(join(work, 'signer.p12')), { passphrase: '' });
  return new SignPdf().sign(pdfBuffer, key, signingTime);
}
