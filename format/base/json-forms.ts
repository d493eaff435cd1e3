/**
 * Forms that JSON from outside must have. A form is a function that returns the value, typed, or throws a {@link FormError};
 * fields that a form does not name are left out.
 */
export type Form<Value> = (value: unknown, path?: string) => Value;

/** What a form accepts. */
export type ValueOf<F> = F extends Form<infer Value> ? Value : never;

/** A value that does not have its form. */
export class FormError extends Error {}

function refuse(path: string, wanted: string): never {
  throw new FormError(`${path === '' ? 'The document' : path} is not ${wanted}.`);
}

/** A string that matches. */
export function textForm(pattern: RegExp = /^/): Form<string> {
  return (value, path = '') =>
    typeof value === 'string' && pattern.test(value) ? value : refuse(path, `a string of the form ${pattern.source}`);
}

/** A safe integer of at least `min`. */
export function integerForm(min: number): Form<number> {
  return (value, path = '') =>
    Number.isSafeInteger(value) && (value as number) >= min
      ? (value as number)
      : refuse(path, `an integer of at least ${min}`);
}

/** One value alone. */
export function exactForm<const Value extends string | boolean>(wanted: Value): Form<Value> {
  return (value, path = '') => (value === wanted ? wanted : refuse(path, JSON.stringify(wanted)));
}

/** The value, or `otherwise` if it is missing. */
export function withDefault<Value, Default>(form: Form<Value>, otherwise: Default): Form<Value | Default> {
  return (value, path) => (value === undefined ? otherwise : form(value, path));
}

/** The form, or null. */
export function nullable<Value>(form: Form<Value>): Form<Value | null> {
  return (value, path) => (value === null ? null : form(value, path));
}

/** Items of one form. */
export function listForm<Item>(
  form: Form<Item>,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {},
): Form<Item[]> {
  return (value, path = '') => {
    if (!Array.isArray(value) || value.length < min || value.length > max)
      return refuse(path, `a list of ${min} to ${max} items`);
    return value.map((item, at) => form(item, `${path}[${at}]`));
  };
}

function entriesOf(value: unknown, path: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(path, 'an object');
  return Object.entries(value);
}

/** Any object, as it is. */
export const anyObject: Form<Record<string, unknown>> = (value, path = '') =>
  Object.fromEntries(entriesOf(value, path));

/** Any names of a form, with values of a form. */
export function recordForm<Value>(name: RegExp, form: Form<Value>): Form<Record<string, Value>> {
  return (value, path = '') => {
    const checked = entriesOf(value, path).map(([key, each]) => {
      if (!name.test(key)) refuse(`${path}.${key}`, `a name of the form ${name.source}`);
      return [key, form(each, `${path}.${key}`)] as const;
    });
    return Object.assign(Object.create(null), Object.fromEntries(checked)) as Record<string, Value>;
  };
}

/** Named fields. */
export function objectForm<Fields extends Record<string, Form<unknown>>>(
  fields: Fields,
): Form<{ [Name in keyof Fields]: ValueOf<Fields[Name]> }> {
  return (value, path = '') => {
    const given = new Map(entriesOf(value, path));
    const checked = Object.entries(fields).map(([name, form]) => [name, form(given.get(name), `${path}.${name}`)]);
    return Object.fromEntries(checked) as { [Name in keyof Fields]: ValueOf<Fields[Name]> };
  };
}
