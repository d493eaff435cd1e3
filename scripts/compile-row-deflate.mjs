// Makes pipelines/caches/row-deflate-module.ts of assembly/row-deflate.ts: node scripts/compile-row-deflate.mjs [--print]
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = 'assembly/row-deflate.ts';
const target = 'pipelines/caches/row-deflate-module.ts';
const lineLength = 120;

const text = await compile();
if (process.argv[2] === '--print') process.stdout.write(text);
else writeFileSync(join(root, target), text);

/** The text of the target. */
async function compile() {
  const flags = ['--outFile', 'row-deflate.wasm', '--runtime', 'stub', '--noAssert', '-O3', '--enable', 'simd', '--use', 'abort='];
  const files = new Map();
  const { error, stderr } = await asc.main([source, ...flags], {
    readFile: (name) => (name === source ? readFileSync(join(root, source), 'utf8') : null),
    writeFile: (name, contents) => files.set(name, contents),
    listFiles: () => [],
  });
  if (error !== null) throw new Error(`${source} does not compile: ${stderr.toString()}`);
  const lines = Buffer.from(files.get('row-deflate.wasm')).toString('base64').match(new RegExp(`.{1,${lineLength}}`, 'g'));
  return `/** ${source}, compiled by scripts/compile-row-deflate.mjs. */
export const rowDeflateModule = Buffer.from(
${lines.map((line) => `  '${line}'`).join(' +\n')},
  'base64',
);
`;
}
