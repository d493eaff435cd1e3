import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { listQuickTests } from './test/support/quick-tests.ts';

/** Takes the walks first, whose files are short and whose tests are long: none is left alone at the end. */
class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => moduleId.includes('/test/walk/');
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const isQuick = process.env.TEST_SET === 'quick';

export default defineConfig({
  test: {
    include: isQuick ? listQuickTests(import.meta.dirname) : ['test/**/*.test.ts'],
    globalSetup: isQuick ? [] : ['test/support/compile.ts', 'test/support/global-setup.ts'],
    isolate: !isQuick,
    pool: 'forks',
    maxWorkers: 2,
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
