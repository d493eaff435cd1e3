// Compiles the sources of assembly/, in the text format of WebAssembly, to <name>-module.ts next to their users:
// node scripts/compile-assembly.mjs
// With --check, fails if a module is not what its source compiles to.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import binaryen from 'binaryen';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lineLength = 120;
const directories = {
  'level-kernel': 'pipelines/audio/signal',
  'real-fft': 'pipelines/audio/signal',
  'resample-kernel': 'pipelines/audio/signal',
};
const isCheck = process.argv[2] === '--check';
for (const file of readdirSync(join(root, 'assembly'))) {
  const name = file.replace(/\.\w+$/, '');
  const path = join(root, directories[name], `${name}-module.ts`);
  const text = moduleText(name, file, assemble(`assembly/${file}`));
  if (!isCheck) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) throw new Error(`${path} is not what assembly/${file} compiles to`);
}

/** The text of a module: its bytes in base64. */
function moduleText(name, file, bytes) {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(new RegExp(`.{1,${lineLength}}`, 'g'));
  return `/** assembly/${file}, compiled by scripts/compile-assembly.mjs. */
export const ${name.replace(/-(.)/g, (_dash, letter) => letter.toUpperCase())}Module = Buffer.from(
${lines.map((line) => `  '${line}'`).join(' +\n')},
  'base64',
);
`;
}

/** Instruction by instruction: nothing is optimized. */
function assemble(source) {
  const module = binaryen.parseText(readFileSync(join(root, source), 'utf8'));
  module.setFeatures(binaryen.Features.SIMD128);
  if (!module.validate()) throw new Error(`${source} is not valid`);
  return module.emitBinary();
}
