import { join } from 'node:path';

/** Where the weights of a model that was added lie: under their digest, so that equal ones are stored once and never change. */
export function addedWeightsFile(modelDir: string, weightsSha256: string): string {
  return join(modelDir, `${weightsSha256}.onnx`);
}
