/** The part of WebAssembly that is used; Node has it, the libraries that the project compiles with do not declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/** The exports of each module of assembly/, beside its functions. */
interface ModuleExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  /** Bytes of memory that the module needs, where its host does not decide them. */
  readonly memoryBytes?: () => number;
}

const pageBytes = 65_536;

const compiled = new WeakMap<Uint8Array, object>();

/**
 * Makes an instance of a module of assembly/, and returns its functions and its memory: `bytes`, or as many as the module needs, rounded up
 * to pages. The module is compiled once; V8 has 128-bit SIMD in WebAssembly alone.
 */
export function instantiate<Functions>(
  module: Uint8Array,
  bytes = 0,
): { readonly memory: ArrayBuffer; readonly functions: Functions } {
  const code = compiled.get(module) ?? new WebAssembly.Module(module);
  compiled.set(module, code);
  const { memory, ...functions } = new WebAssembly.Instance(code).exports as ModuleExports;
  const needed = functions.memoryBytes?.() ?? bytes;
  memory.grow(Math.max(0, Math.ceil((needed - memory.buffer.byteLength) / pageBytes)));
  return { memory: memory.buffer, functions: functions as Functions };
}
