/** What JSON cannot carry, or what has no type: no page can read it. */
interface NotInJson<Value> {
  readonly notInJson: Value;
}

/**
 * What a page reads of a value that the server answers as JSON: an instant is text. Bytes, big integers, functions, maps, sets, `any` and
 * `never`, which would fit whatever a page reads, are {@link NotInJson}.
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

/** The place in a list where its next part begins; null at the end. */
export interface Listed {
  readonly next: string | null;
}
