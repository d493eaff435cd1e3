/** The used part of WebAssembly, which Node has and the project's type libraries do not declare. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/** The exports of a module of assembly/, besides its functions. */
interface ModuleExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  /** Bytes of memory that the module needs; absent if its caller decides. */
  readonly memoryBytes?: () => number;
}

const pageBytes = 65_536;

const compiled = new WeakMap<Uint8Array, object>();

/**
 * Makes an instance of a module of assembly/. Returns its functions and its memory: `bytes`, or as many as the module needs,
 * rounded up to pages. The module is compiled once. WebAssembly is used for 128-bit SIMD, which V8 has nowhere else.
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
