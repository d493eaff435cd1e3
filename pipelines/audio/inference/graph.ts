import type { InferenceSession } from 'onnxruntime-node';
import { silenceInferenceRuntime } from '../../../runtime/config.ts';
import { ServiceError, errorMessageOf } from '../../../runtime/errors.ts';

/** The names of a graph's input and of the output that is used. */
interface GraphNames {
  readonly inputName: string;
  readonly outputName: string;
}

/** An opened ONNX graph: one float32 tensor in, one out. */
export interface Graph {
  /**
   * Runs the graph on one tensor. The caller may use `input` again once this resolves.
   * @throws ServiceError `model_invalid` if the graph does not take the tensor, or answers anything but float32
   */
  run(input: Float32Array, shape: readonly number[]): Promise<Float32Array>;
  close(): Promise<void>;
}

/**
 * Graphs with weights from this size on run without the arena, in which the runtime otherwise keeps the memory of the largest batch
 * permanently: the activations of large models are large, too (a published one took 11 GB in batches of 8).
 */
const arenaWeightsBytesMax = 16 * 1024 * 1024;

const severityError = 3;

/** How a graph is run, by the settings of the operator. */
interface GraphExecution {
  /** Threads of one run. */
  readonly threads: number;
}

/**
 * One thread: a second one hardly speeds up small graphs, and every process of the pool has a core of its own. A graph of 1.3 GB
 * on an idle machine is another matter, so the operator decides.
 */
const oneThread: GraphExecution = { threads: 1 };

function sessionOptions({ threads }: GraphExecution, isSmall: boolean): InferenceSession.SessionOptions {
  return {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    enableCpuMemArena: isSmall,
    enableMemPattern: isSmall,
    logSeverityLevel: severityError,
  };
}

/**
 * Opens a graph of bytes, so that the checked bytes are the ones that run, or of a path: a graph with external data, which the
 * runtime maps instead of reading. It reads no file outside of the folder of the path. Runs block the event loop, so services run
 * graphs in the processes of the pool.
 * @throws ServiceError `model_invalid` if the bytes are no graph that runs here, or it lacks a name
 */
export async function openGraph(
  file: string | Uint8Array,
  { inputName, outputName }: GraphNames,
  execution: GraphExecution = oneThread,
): Promise<Graph> {
  silenceInferenceRuntime();
  const { InferenceSession, Tensor } = await import('onnxruntime-node'); // 150 ms that only processes which score pay
  const isSmall = typeof file !== 'string' && file.byteLength <= arenaWeightsBytesMax;
  const options = sessionOptions(execution, isSmall);
  const opening =
    typeof file === 'string' ? InferenceSession.create(file, options) : InferenceSession.create(file, options);
  const session = await opening.catch((cause: unknown) => {
    throw graphInvalid(`The weights cannot be opened: ${firstLine(cause)}.`, cause);
  });
  if (!session.inputNames.includes(inputName))
    throw graphInvalid(`The graph has no input "${inputName}" (input.name) but ${session.inputNames.join(', ')}.`);
  if (session.inputNames.length > 1)
    throw graphInvalid(`The graph has ${session.inputNames.length} inputs; one is given.`);
  if (!session.outputNames.includes(outputName))
    throw graphInvalid(`The graph has no output "${outputName}" (output.name) but ${session.outputNames.join(', ')}.`);

  return {
    async run(input, shape) {
      const outputs = await session
        .run({ [inputName]: new Tensor('float32', input, shape) }, [outputName])
        .catch((cause: unknown) => {
          throw graphInvalid(`The graph does not run on an input of ${shape.join(' x ')}: ${firstLine(cause)}.`, cause);
        });
      const output = outputs[outputName]!;
      if (output.type !== 'float32') throw graphInvalid(`The output "${outputName}" is ${output.type}, not float32.`);
      return output.data as Float32Array;
    },
    close: () => session.release(),
  };
}

function graphInvalid(problem: string, cause?: unknown): ServiceError {
  return new ServiceError('model_invalid', { operation: 'run model', problem, cause });
}

function firstLine(error: unknown): string {
  return (errorMessageOf(error).split('\n')[0] ?? '').slice(0, 300).replace(/\.$/, '');
}
