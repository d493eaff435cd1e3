import { loadConfig } from '../runtime/config.ts';
import { createLog } from '../runtime/log.ts';
import { runProcess, stopSignal, untilAborted } from '../runtime/processes/shutdown.ts';
import { startTracing } from '../runtime/tracing/tracing.ts';
import { startIntake } from './start.ts';

/** The process of the intake: takes work from remote clients until it is stopped. Ends at once unless INTAKE is on. */
await runProcess('intake', async () => {
  const config = loadConfig();
  const log = createLog({ level: config.logLevel, process: 'intake' });
  if (config.intake === 'off') {
    log.info('the intake is off: INTAKE=on turns it on');
    return;
  }
  const stopping = stopSignal(log);
  const tracing = await startTracing(config, { process: 'intake', log }); // before the queues, which ask whether jobs carry a trace
  const intake = await startIntake(config, { log });
  const failure = await Promise.race([intake.failed, untilAborted(stopping)]);
  await intake.close();
  await tracing.stop();
  if (failure !== undefined) throw failure;
});
