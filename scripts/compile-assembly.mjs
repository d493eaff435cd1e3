// Compiles each assembly/<name>.ts to pipelines/caches/<name>-module.ts: node scripts/compile-assembly.mjs
// With a name and --print, writes the module of that name to standard output instead.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lineLength = 120;
const [name, print] = process.argv.slice(2);

if (print === '--print') process.stdout.write(await compile(name));
else for (const file of readdirSync(join(root, 'assembly'))) await write(basename(file, '.ts'));

async function write(name) {
  writeFileSync(join(root, 'pipelines', 'caches', `${name}-module.ts`), await compile(name));
}

/** The text of a module: its bytes in base64. */
async function compile(name) {
  const source = `assembly/${name}.ts`;
  const flags = [
    '--outFile',
    'module.wasm',
    '--runtime',
    'stub',
    '--noAssert',
    '-O3',
    '--enable',
    'simd',
    '--use',
    'abort=',
  ];
  const files = new Map();
  const { error, stderr } = await asc.main([source, ...flags], {
    readFile: (path) => (path === source ? readFileSync(join(root, source), 'utf8') : null),
    writeFile: (path, contents) => files.set(path, contents),
    listFiles: () => [],
  });
  if (error !== null) throw new Error(`${source} does not compile: ${stderr.toString()}`);
  const lines = Buffer.from(files.get('module.wasm'))
    .toString('base64')
    .match(new RegExp(`.{1,${lineLength}}`, 'g'));
  return `/** ${source}, compiled by scripts/compile-assembly.mjs. */
export const ${name.replace(/-(.)/g, (_dash, letter) => letter.toUpperCase())}Module = Buffer.from(
${lines.map((line) => `  '${line}'`).join(' +\n')},
  'base64',
);
`;
}
