// Evaluates every shipped model of a family on a set and writes its card: node scripts/cards.mjs phone INDEX [digital INDEX]
// Each model is compared with the version before it, so all of a family run on the same set.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root, run, runScript, setUp } from './set-up.mjs';

const note =
  'A development set: none of its speakers was trained on, and the synthesizers marked as held out were not either. ' +
  'Calibration and thresholds were fitted on held-out recordings of the same speakers and synthesizers, and the set was looked at when choosing between networks, so that figures on other sets will be worse.';

/** Models of a family whose weights are shipped, oldest first. */
function modelsOf(family) {
  const { models } = JSON.parse(readFileSync(join(root, 'models', 'registry.json'), 'utf8'));
  return models
    .filter(
      ({ model, directory }) =>
        model.startsWith(`${family}/`) &&
        directory !== null &&
        existsSync(join(root, 'models', directory, 'manifest.json')),
    )
    .map(({ model }) => model);
}

/**
 * The index with a column `attack`, which says whether the synthesizer was trained on. It is written next to the index, whose paths
 * are relative.
 */
function withAttacks(index) {
  const { made, heldOut } = JSON.parse(readFileSync(join(root, 'training', 'data-manifest.json'), 'utf8'));
  const [header, ...lines] = readFileSync(index, 'utf8').trimEnd().split(/\r?\n/);
  const columns = header.split(',');
  if (columns.includes('attack')) return index;
  const attackOf = (label, synthesizer) => {
    if (label !== 'synthetic') return '';
    if (Object.hasOwn(made.vocoderCopies, synthesizer)) return 'vocoder copy of an unseen speaker';
    if (!heldOut.devSynthesizers.includes(synthesizer)) return 'trained synthesizer with an unseen speaker';
    return /^(espeak|festival|flite)/i.test(synthesizer) ? 'unseen classic synthesizer' : 'unseen neural synthesizer';
  };
  const rows = lines.map((line) => {
    const fields = line.split(',');
    if (fields.length !== columns.length) throw new Error(`a row of ${index} has ${fields.length} fields: ${line}`);
    return `${line},${attackOf(fields[columns.indexOf('label')], fields[columns.indexOf('synthesizer')])}`;
  });
  const file = join(dirname(index), 'index-with-attacks.csv');
  writeFileSync(file, `${[`${header},attack`, ...rows].join('\n')}\n`);
  return file;
}

await runScript(async () => {
  const words = process.argv.slice(2);
  if (words.length === 0 || words.length % 2 === 1)
    throw new Error('give a family and the index of its development set, once or more');
  await setUp();
  for (let at = 0; at < words.length; at += 2) {
    const [family, index] = words.slice(at, at + 2);
    const named = modelsOf(family).flatMap((model) => ['--model', model]);
    const code = await run(process.execPath, [
      join(root, 'dist', 'cli.js'),
      'evaluate',
      '--index',
      withAttacks(index),
      '--name',
      `the held-out development set of ${family}`,
      '--note',
      note,
      '--card',
      ...named,
    ]);
    if (code !== 0) throw new Error(`evaluate ended with ${code}`);
  }
});
