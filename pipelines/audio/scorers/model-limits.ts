import type { Config } from '../../../runtime/config.ts';
import { AudioRefusal } from '../reasons.ts';
import type { ModelManifest } from '../models/manifest.ts';
import type { ModelExecution } from '../models/registry.ts';

type MemoryConfig = Pick<Config, 'audioMemoryBytesMax' | 'modelMemoryBytesMax'>;

/**
 * The memory limit of a process that scores with these models: that of all processes, or what a manifest asks for, within what the
 * operator allows.
 * @throws AudioRefusal `memory_exceeded` if a manifest asks for more
 */
export function memoryOfModels(
  manifests: readonly Pick<ModelManifest, 'model' | 'limits'>[],
  { audioMemoryBytesMax, modelMemoryBytesMax }: MemoryConfig,
): number {
  return manifests.reduce((most, { model, limits: { memoryBytes = 0 } }) => {
    if (memoryBytes <= audioMemoryBytesMax) return most;
    if (memoryBytes > modelMemoryBytesMax)
      throw new AudioRefusal(
        'memory_exceeded',
        `${model} asks for ${memoryBytes} bytes of memory, and ${modelMemoryBytesMax} are allowed (MODEL_MEMORY_BYTES_MAX).`,
      );
    return Math.max(most, memoryBytes);
  }, audioMemoryBytesMax);
}

/** Windows of a recording in one run of a model, where its manifest allows as many: more take more memory. */
const windowsAtOnce = 4;

/** How graphs are run. */
export function executionOf({ modelThreads: threads }: Pick<Config, 'modelThreads'>): ModelExecution {
  return { threads, windowsAtOnce };
}
