/** What JSON cannot carry, or what nobody has said the type of: no page takes it. */
interface NotInJson<Value> {
  readonly notInJson: Value;
}

/**
 * What a page reads of a value that the server answers as JSON: an instant is text, what may be undefined may be missing, and nothing is
 * read-only. Bytes, big integers, functions, maps, sets, `any` and `never`, which would fit whatever a page reads, are {@link NotInJson}.
 */
export type Json<Value> =
  IsAny<Value> extends true
    ? NotInJson<'any'>
    : [Value] extends [never]
      ? NotInJson<'never'>
      : unknown extends Value
        ? unknown
        : Value extends string | number | boolean | null
          ? Value
          : Value extends Date
            ? string
            : Value extends Unsendable
              ? NotInJson<Value>
              : Value extends readonly unknown[]
                ? { -readonly [Key in keyof Value]: Json<Value[Key]> }
                : { -readonly [Key in keyof Value as undefined extends Value[Key] ? never : Key]: Json<Value[Key]> } & {
                    -readonly [Key in keyof Value as undefined extends Value[Key] ? Key : never]?: Json<
                      Exclude<Value[Key], undefined>
                    >;
                  };

type IsAny<Value> = 0 extends 1 & Value ? true : false;

type Unsendable =
  | bigint
  | symbol
  | undefined
  | ArrayBufferView
  | ArrayBuffer
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ((...given: never[]) => unknown);

/** What a page reads of what a function of the server returns. */
export type Told<Answering extends (...given: never[]) => unknown> = Json<Awaited<ReturnType<Answering>>>;

/** Compiles only if a page that reads `Page` can be answered `Answer`: each field is there, and may be null only where the page knows it. */
export type Fits<Page, Answer extends Page> = readonly [Page, Answer];

type Yes<Claim extends true> = Claim;

/** What {@link Fits} would not take. */
type Refused<Page, Answer> = [Answer] extends [Page] ? false : true;

/** The check itself: each kind of difference that it must find, and what it must let pass. */
export interface CheckHolds {
  readonly missing: Yes<Refused<{ readonly rows: number }, Json<{ readonly bytes: number }>>>;
  readonly perhapsMissing: Yes<Refused<{ readonly rows: number }, Json<{ readonly rows: number | undefined }>>>;
  readonly perhapsNull: Yes<Refused<{ readonly at: string }, Json<{ readonly at: Date | null }>>>;
  readonly perhapsNullInList: Yes<
    Refused<
      readonly { readonly stale: { readonly since: string } | null }[],
      Json<readonly { readonly stale: { readonly since: Date | null } | null }[]>
    >
  >;
  readonly anotherName: Yes<
    Refused<{ readonly state: 'due' | 'finished' }, Json<{ readonly state: 'due' | 'running' | 'finished' }>>
  >;
  readonly numberForText: Yes<Refused<{ readonly next: string | null }, Json<{ readonly next: number | null }>>>;
  readonly bytes: Yes<Refused<{ readonly png: string }, Json<{ readonly png: Buffer }>>>;
  readonly anything: Yes<Refused<{ readonly rows: number }, Json<{ readonly rows: ReturnType<typeof JSON.parse> }>>>;
  readonly nothing: Yes<Refused<{ readonly rows: number }, Json<never>>>;
  readonly unknownValue: Yes<Refused<{ readonly detail: string }, Json<{ readonly detail: unknown }>>>;
  readonly instant: Fits<
    { readonly at: string | null; readonly days: string[] },
    Json<{ readonly at: Date | null; readonly days: readonly string[]; readonly more: bigint }>
  >;
  readonly perhapsLeftOut: Fits<{ readonly hint?: string }, Json<{ readonly hint: string | undefined }>>;
}
