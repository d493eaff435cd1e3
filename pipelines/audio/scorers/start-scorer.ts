import { ServiceError } from '../../../runtime/errors.ts';
import { SandboxedChild, type SandboxedProgram } from '../../../runtime/processes/sandboxed-child.ts';

/** JavaScript's heap, in MiB; samples, which need most memory, are outside of it. */
const heapMib = 128;

/** The programs that score; their standard error explains a failed start, and descriptor 4 is `pcmDescriptor`. */
const programs: Readonly<Record<'recordings' | 'streams', SandboxedProgram>> = {
  recordings: {
    module: 'pipelines/audio/scorers/scorer-child',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
    serialization: 'json',
    heapMib,
  },
  streams: {
    module: 'pipelines/audio/streaming/stream-scorer-child',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    heapMib,
  },
};

/**
 * Starts a process that scores recordings or streams; {@link SandboxedChild.untilReady} is the caller's. Its written private memory is held
 * to the same limit as its resident memory, which has the pages of the programs' files besides, some 60 MiB: an honest recording that stays
 * within its limit does not meet this one.
 * @throws ServiceError `scorer_unavailable`
 */
export function startScorer(kind: keyof typeof programs, memoryBytesMax: number): Promise<SandboxedChild> {
  return SandboxedChild.start(programs[kind], { memoryBytesMax, dataBytesMax: memoryBytesMax }).catch(throwUnavailable);
}

/** @throws ServiceError `scorer_unavailable` for a process that did not start */
export function throwUnavailable(cause: unknown): never {
  throw new ServiceError('scorer_unavailable', {
    operation: 'start scorer',
    problem: cause instanceof Error ? cause.message : undefined,
    hint: 'Build the project; check the packages, and the limits of memory, processes and open files.',
    cause,
  });
}
