import { loadConfig } from '../runtime/config.ts';
import { ERRORS, errorCodeOf } from '../runtime/errors.ts';
import { createLog } from '../runtime/log.ts';
import { startApi, type RunningApi } from './start.ts';

/** The process of the API: starts it, and stops it on SIGTERM or SIGINT. A second signal ends it at once. */
async function main(): Promise<void> {
  const config = loadConfig();
  const log = createLog({ level: config.logLevel, process: 'api' });
  const api = await startApi(config, { log });
  const stop = stopOnce(api);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'stopping');
      void stop(0);
    });
  }
  void api.failed.then((error) => {
    log.fatal({ err: error, code: error.code }, 'the API stops');
    void stop(error.facts.exit);
  });
}

function stopOnce(api: RunningApi): (exitCode: number) => Promise<void> {
  let stopping = false;
  return async (exitCode) => {
    if (stopping) process.exit(1);
    stopping = true;
    await api.close();
    process.exit(exitCode);
  };
}

main().catch((error: unknown) => {
  createLog({ level: 'fatal', process: 'api' }).fatal({ err: error, code: errorCodeOf(error) }, 'the API did not start');
  process.exit(ERRORS[errorCodeOf(error)].exit);
});
