import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { listLongTests, listQuickTests } from './test/support/test-sets.ts';

/** Takes the walks first, whose files are short and whose tests are long: none is left alone at the end. */
class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => moduleId.includes('/test/walk/');
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const set = process.env.TEST_SET;
const isQuick = set === 'quick';

function listIncluded(): string[] {
  if (isQuick) return listQuickTests(import.meta.dirname);
  return set === 'long' ? listLongTests(import.meta.dirname) : ['test/**/*.test.ts'];
}

export default defineConfig({
  test: {
    include: listIncluded(),
    globalSetup: isQuick ? [] : ['test/support/compile.ts', 'test/support/global-setup.ts'],
    setupFiles: ['test/support/each-file.ts'],
    isolate: false,
    pool: 'forks',
    maxWorkers: 3, // one more than the least number of cores: tests wait a third of their time for queues, locks and browsers
    sequence: { sequencer: LongOnesFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
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
