/**
 * Claim: a request to add a brand holds the lock of changes, which all branding waits for, for about as long as its statements
 * take: names are compared before.
 *
 *   npm run build && node dist/bench/branding-lock.js [requests=200]
 *
 * One new cluster of PostgreSQL, one process, one request at a time, each of a new brand with an invented name and one number.
 */
import { decideLetterText } from '../pipelines/branding/decision/letter-text-decision.ts';
import { submitOperation } from '../pipelines/branding/operation.ts';
import { runOperation } from '../pipelines/branding/requests/run-operation.ts';
import { usedCpuMs } from './side-by-side.ts';
import { Vault } from '../runtime/secrets/vault.ts';
import { inventCompanies } from './company-names.ts';
import { openOwnDatabase } from './own-database.ts';

const requests = Number(process.argv[2] ?? 200);
const warmUp = 20;

const { db, close } = await openOwnDatabase();
const vault = new Vault(Buffer.alloc(32, 7));

let taken = 0;
const held: number[] = [];
db.on('connect', (each) => {
  const query = each.query.bind(each) as (...values: unknown[]) => Promise<unknown>;
  each.query = (async (...values: unknown[]) => {
    const result = await query(...values);
    if (String(values[0]).includes('pg_advisory_xact_lock') && taken === 0) taken = performance.now();
    if (values[0] === 'COMMIT' && taken > 0) [taken] = [0, held.push(performance.now() - taken)];
    return result;
  }) as typeof each.query;
});

try {
  const cpuBefore = usedCpuMs();
  for (const [at, { legalName, displayName }] of inventCompanies(warmUp + requests, 1).entries()) {
    const request = {
      handle: `brand-${at}`,
      brand: { legalName, displayName, country: 'US', website: 'https://brand.example', callReasons: ['Appointment'] },
      numbers: [`+1212555${String(at).padStart(4, '0')}`],
    };
    const { operationId } = await submitOperation(
      { db, vault },
      { kind: 'add_managed_brand', request, owner: 'bench', key: `bench-${at}`, requestedBy: 'bench' },
    );
    await runOperation({
      db,
      vault,
      operationId,
      policy: 'signature',
      now: () => new Date(),
      readLetter: () => Promise.reject(new Error('no request has a letter')),
      decideText: (facts) => Promise.resolve(decideLetterText(facts)),
    });
  }
  const sorted = held.slice(warmUp).sort((a, b) => a - b);
  const at = (share: number) => `${sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(2)} ms`;
  console.log(
    `lock of changes held by a request: median ${at(0.5)}, 90 % ${at(0.9)}, most ${at(1)} (${sorted.length} requests, own CPU ${((usedCpuMs() - cpuBefore) / held.length).toFixed(2)} ms each)`,
  );
} finally {
  await close();
}
