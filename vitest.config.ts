import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/compile.ts', 'test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default'],
    coverage: {
      provider: 'v8',
      include: ['runtime/**', 'sql/**/*.ts', 'pipelines/**', 'jobs/**', 'api/**', 'cli/**', 'cli.ts'],
      exclude: ['test/**'],
      reporter: ['text'],
    },
  },
});
