/** Marks values that JSON cannot carry, or that have no type: pages cannot use them. */
interface NotInJson<Value> {
  readonly notInJson: Value;
}

/**
 * The type of a value after a JSON round trip: a Date becomes text. Bytes, big integers, functions, maps, sets, `any` and
 * `never`, which would be assignable to anything, become {@link NotInJson}.
 */
export type Json<Value> =
  IsAny<Value> extends true
    ? NotInJson<'any'>
    : [Value] extends [never]
      ? NotInJson<'never'>
      : unknown extends Value
        ? unknown
        : Value extends string | number | boolean | null | undefined
          ? Value
          : Value extends Date
            ? string
            : Value extends Unsendable
              ? NotInJson<Value>
              : { [Key in keyof Value]: Json<Value[Key]> };

type IsAny<Value> = 0 extends 1 & Value ? true : false;

type Unsendable =
  | bigint
  | symbol
  | ArrayBufferView
  | ArrayBuffer
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ((...given: never[]) => unknown);

/** A page of a list; `next` is the cursor of the next page, null on the last. */
export interface Listed {
  readonly next: string | null;
}
