import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

describe('the programs that gather synthetic and genuine speech', () => {
  it.skipIf(!hasPython())('pass their own tests (skipped where there is no python3 of 3.11 or later)', () => {
    const run = spawnSync('python3', ['-B', '-m', 'unittest', 'discover', '-s', 'training/corpus'], {
      encoding: 'utf8',
    });
    expect(run.stderr).toMatch(/\nOK\n$/);
    expect(run.status).toBe(0);
  });
});

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import tomllib'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
