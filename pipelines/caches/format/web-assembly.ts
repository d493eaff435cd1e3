/** The part of WebAssembly that is used; Node has it, the libraries that the project compiles with do not declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/** What every module of assembly/ exports beside its functions. */
interface ModuleExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  /** Bytes of memory that the module needs. */
  readonly memoryBytes: () => number;
}

const pageBytes = 65_536;

/** Makes an instance of a compiled module, with the memory that it needs, and returns that and its functions. */
export function instantiate<Functions>(module: Uint8Array): {
  readonly memory: ArrayBuffer;
  readonly functions: Functions;
} {
  const { memory, ...functions } = new WebAssembly.Instance(new WebAssembly.Module(module)).exports as ModuleExports;
  memory.grow(Math.max(0, Math.ceil((functions.memoryBytes() - memory.buffer.byteLength) / pageBytes)));
  return { memory: memory.buffer, functions: functions as Functions };
}
