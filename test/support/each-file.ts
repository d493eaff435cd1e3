import { restartFresh } from './fresh-count.ts';

// Runs before each test file.
restartFresh();
