/**
 * Claims: of 1,000 invented names of honest companies few are near a protected name by accident, and few need a person
 * for how they relate to their own legal name; the comparison costs milliseconds.
 *
 *   npm run build && node dist/bench/names.js [--count 1000] [--seed 1] [--show]
 */
import { parseArgs } from 'node:util';
import { nearProtectedName, protectedNamesWith } from '../pipelines/branding/names/protected-names.ts';
import { relateName } from '../pipelines/branding/names/related-name.ts';
import { inventCompanies } from './company-names.ts';
import { usedCpuMs } from './side-by-side.ts';

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'boolean', default: false },
  },
});
const companies = inventCompanies(Number(options.count), Number(options.seed));
const protectedNames = protectedNamesWith([]);
nearProtectedName('warm up', protectedNames);
const start = performance.now();
const cpuBefore = usedCpuMs();
const judged = companies.map(({ legalName, displayName }) => ({
  legalName,
  displayName,
  near: nearProtectedName(displayName, protectedNames) ?? nearProtectedName(legalName, protectedNames),
  relation: relateName(displayName, { legalName, dba: null }),
}));
const milliseconds = (performance.now() - start) / companies.length;
const cpuMilliseconds = (usedCpuMs() - cpuBefore) / companies.length;
const near = judged.flatMap((each) => (each.near === null ? [] : [{ ...each, near: each.near }]));
const unrelated = judged.filter(({ relation }) => !relation.related);
const either = judged.filter((each) => each.near !== null || !each.relation.related);
const share = (count: number) => `${count} of ${companies.length} (${((100 * count) / companies.length).toFixed(1)} %)`;
console.log(`protected names        ${protectedNames.length}`);
console.log(`near a protected name  ${share(near.length)}: ${countBy(near.map((each) => each.near.how))}`);
console.log(
  `not plainly its own    ${share(unrelated.length)}: ${countBy(unrelated.map(({ relation }) => relation.reason))}`,
);
console.log(`to a person            ${share(either.length)}`);
console.log(`time a company         ${milliseconds.toFixed(2)} ms, CPU ${cpuMilliseconds.toFixed(2)} ms`);
if (options.show) {
  for (const {
    displayName,
    legalName,
    near: { name, how },
  } of near)
    console.log(`  ${displayName} (${legalName}): ${how} ${name}`);
  for (const { displayName, legalName, relation } of unrelated)
    console.log(`  ${displayName} (${legalName}): ${relation.reason}`);
}

function countBy(kinds: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}
