import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { listLongTests, listQuickTests, listUsualTests } from './test/support/test-sets.ts';

/** Folders whose tests wait for processes of the service rather than compute. */
const waiting = /\/test\/(walk|faults|jobs)\//;

/**
 * Spreads the files that wait evenly among those that compute, so that some of both run at any time. Walks are first: their files are
 * small, which is the last place otherwise, and their tests long.
 */
class WaitingAmongComputing extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const walksFirst = sorted.toSorted((a, b) => Number(isWalk(b)) - Number(isWalk(a)));
    const groups = [true, false].map((waits) => walksFirst.filter(({ moduleId }) => waiting.test(moduleId) === waits));
    return groups
      .flatMap((group) => group.map((file, at) => ({ file, place: at / group.length })))
      .sort((a, b) => a.place - b.place)
      .map(({ file }) => file);
  }
}

/**
 * A test or a hook that takes longer is taken to hang. Beside other work a test may take twenty times as long as on a quiet machine,
 * where the longest takes some 20 s.
 */
const hangSeconds = 300;

const isWalk = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/test/walk/');

const set = process.env.TEST_SET;
const isQuick = set === 'quick';

function listIncluded(): string[] {
  if (isQuick) return listQuickTests(import.meta.dirname);
  return set === 'long' ? listLongTests(import.meta.dirname) : listUsualTests(import.meta.dirname);
}

export default defineConfig({
  test: {
    include: listIncluded(),
    globalSetup: isQuick ? [] : ['test/support/compile.ts', 'test/support/global-setup.ts'],
    setupFiles: ['test/support/each-file.ts'],
    isolate: false,
    pool: 'forks',
    maxWorkers: 3, // one more than the least number of cores: tests wait a third of their time for queues, locks and browsers
    sequence: { sequencer: WaitingAmongComputing },
    testTimeout: hangSeconds * 1000,
    hookTimeout: hangSeconds * 1000,
    teardownTimeout: 60_000, // what is left of a run has a while to end
    reporters: ['default'],
    coverage: {
      provider: 'v8',
      include: [
        'runtime/**/*.ts',
        'sql/**/*.ts',
        'pipelines/**/*.ts',
        'jobs/**/*.ts',
        'api/**/*.ts',
        'intake/**/*.ts',
        'console/*.ts',
        'console/routes/**',
        'console/streaming/**',
        'cli/**/*.ts',
        'cli.ts',
      ],
      exclude: ['test/**'],
      reporter: ['text'],
    },
  },
});
