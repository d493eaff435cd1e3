import metadata from 'libphonenumber-js/max/metadata';

/**
 * Numbering plans as a state table with a transition for each digit.
 *
 * libphonenumber-js takes 6 to 11 us to parse a number (bench/feed.ts), several times all other work on a feed row;
 * the tables take 0.6 to 0.9.
 * This module reads the same metadata, compiles the patterns of a calling code into a deterministic automaton, whose states
 * are built on demand, and decides most E.164 numbers in about 13 steps. For numbers that libphonenumber would rewrite (they
 * start with a national prefix) the answer is `unsure`, and the caller asks the library.
 * test/pipelines/phone/phone-number.test.ts compares both over all calling codes.
 */
type PlanVerdict =
  | { readonly kind: 'valid'; readonly country: string | null }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'unsure' };

// The metadata as libphonenumber-js reads it: source/metadata.js names each position.
type NumberType = readonly [pattern: string, lengths?: readonly number[] | 0];
type Plan = readonly unknown[];
interface Metadata {
  readonly country_calling_codes: Readonly<Record<string, readonly string[]>>;
  readonly countries: Readonly<Record<string, Plan>>;
  readonly nonGeographic: Readonly<Record<string, Plan>>;
}
const plans = metadata as unknown as Metadata; // shape is checked by the comparison with the library

const textAt = (plan: Plan, position: number): string => (typeof plan[position] === 'string' ? plan[position] : '');
const generalPattern = (plan: Plan): string => textAt(plan, 2);
const possibleLengths = (plan: Plan): readonly number[] => plan[3] as readonly number[];
const nationalPrefix = (plan: Plan): string => textAt(plan, 7) || textAt(plan, 5);
const leadingDigits = (plan: Plan): string => textAt(plan, 10);
const numberTypes = (plan: Plan): readonly (NumberType | 0)[] => (plan[11] || []) as readonly (NumberType | 0)[];

/** One pattern of a calling code, compiled. */
interface Pattern {
  readonly start: number;
  readonly accept: number;
  /** Valid lengths of a national number, as a bit set; 0: any. */
  readonly lengths: number;
}

/** The rules of a country, or of a calling code without country. */
interface Rules {
  readonly country: string | null;
  readonly general: Pattern;
  readonly leading: Pattern | null;
  /** Null if libphonenumber has no types for the country: the general pattern decides. */
  readonly types: readonly Pattern[] | null;
}

interface CallingCode {
  readonly rules: readonly Rules[];
  readonly prefix: Pattern | null;
  /** Start nodes of its patterns. */
  readonly starts: readonly number[];
}

const endOfNumber = 10; // the step after the ten digits, for a pattern's `$`

/** A nondeterministic automaton over digits: Thompson's construction. */
class Patterns {
  /** The symbols of a node's transition: a bit set over the digits and the end. */
  readonly stepOn: number[] = [];
  readonly stepTo: number[] = [];
  readonly skipTo: number[][] = [];

  compile(pattern: string, lengths: number): Pattern {
    const start = this.node();
    const accept = new PatternReader(this, pattern).readAll(start);
    return { start, accept, lengths };
  }

  node(): number {
    this.stepOn.push(0);
    this.stepTo.push(-1);
    return this.skipTo.push([]) - 1;
  }

  step(from: number, symbols: number): number {
    const to = this.node();
    this.stepOn[from] = symbols;
    this.stepTo[from] = to;
    return to;
  }

  skip(from: number, to: number): void {
    this.skipTo[from]!.push(to);
  }

  /** The epsilon closure of nodes, ascending. */
  closure(nodes: Iterable<number>): number[] {
    const reached = new Set<number>();
    const open = [...nodes];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (reached.has(node)) continue;
      reached.add(node);
      open.push(...this.skipTo[node]!);
    }
    return [...reached].sort((a, b) => a - b);
  }

  follow(nodes: readonly number[], symbol: number): number[] {
    return this.closure(nodes.filter((node) => (this.stepOn[node]! >> symbol) & 1).map((node) => this.stepTo[node]!));
  }
}

/** Parses the subset of regular expressions in the metadata: alternation, groups, classes, `\d`, `{n,m}`, `?`, `$`. */
class PatternReader {
  private at = 0;
  private readonly patterns: Patterns;
  private readonly text: string;

  constructor(patterns: Patterns, text: string) {
    this.patterns = patterns;
    this.text = text;
  }

  readAll(start: number): number {
    const end = this.alternatives(start);
    if (this.at !== this.text.length) throw this.unreadable();
    return end;
  }

  private alternatives(start: number): number {
    const end = this.patterns.node();
    for (;;) {
      this.patterns.skip(this.sequence(start), end);
      if (this.text[this.at] !== '|') return end;
      this.at++;
    }
  }

  private sequence(start: number): number {
    const { patterns } = this;
    let node = patterns.node();
    patterns.skip(start, node);
    while (this.at < this.text.length && this.text[this.at] !== '|' && this.text[this.at] !== ')')
      node = this.repeated(node);
    return node;
  }

  /** An atom with its count. The atom is parsed again for each repetition, so that each has nodes of its own. */
  private repeated(start: number): number {
    const { patterns } = this;
    const atomAt = this.at;
    let node = this.atom(start);
    const atomEnd = this.at;
    const [least, most] = this.count();
    const after = this.at;
    const ends = least === 0 ? [start] : [];
    if (least <= 1) ends.push(node);
    for (let times = 2; times <= most; times++) {
      this.at = atomAt;
      node = this.atom(node);
      if (this.at !== atomEnd) throw this.unreadable();
      if (times >= least) ends.push(node);
    }
    this.at = after;
    const end = patterns.node();
    for (const from of ends) patterns.skip(from, end);
    return end;
  }

  private atom(start: number): number {
    const { patterns } = this;
    const from = patterns.node();
    patterns.skip(start, from);
    const group = /\((?:\?:)?/y;
    group.lastIndex = this.at;
    const opening = group.exec(this.text);
    if (opening === null) return patterns.step(from, this.symbols());
    this.at = group.lastIndex;
    const end = this.alternatives(from);
    if (this.text[this.at] !== ')') throw this.unreadable();
    this.at++;
    return end;
  }

  /** One symbol class as a bit set. */
  private symbols(): number {
    const atom = /\\d|\d|\$|\[([\d-]+)\]/y;
    atom.lastIndex = this.at;
    const match = atom.exec(this.text);
    if (match === null) throw this.unreadable();
    this.at = atom.lastIndex;
    if (match[0] === '\\d') return 0b11_1111_1111;
    if (match[0] === '$') return 1 << endOfNumber;
    return match[1] === undefined ? 1 << Number(match[0]) : digitClass(match[1]);
  }

  private count(): [least: number, most: number] {
    const count = /\?|\{(\d+)(?:,(\d+))?\}/y;
    count.lastIndex = this.at;
    const match = count.exec(this.text);
    if (match === null) return [1, 1];
    this.at = count.lastIndex;
    if (match[0] === '?') return [0, 1];
    const least = Number(match[1]);
    return [least, match[2] === undefined ? least : Number(match[2])];
  }

  private unreadable(): Error {
    return new Error(`numbering plan: cannot read pattern ${this.text} at ${this.at}`);
  }
}

function digitClass(ranges: string): number {
  let set = 0;
  for (const [, from, to] of ranges.matchAll(/(\d)(?:-(\d))?/g)) {
    for (let digit = Number(from); digit <= Number(to ?? from); digit++) set |= 1 << digit;
  }
  return set;
}

const lengthSet = (lengths: readonly number[] | 0 | undefined): number =>
  (lengths || []).reduce((set, length) => set | (1 << length), 0);

function compileRules(patterns: Patterns, country: string | null, plan: Plan): Rules {
  const types = numberTypes(plan).flatMap((type) =>
    type === 0 || type[0] === '' ? [] : [patterns.compile(type[0], lengthSet(type[1] || possibleLengths(plan)))],
  );
  const leading = leadingDigits(plan);
  return {
    country,
    general: patterns.compile(generalPattern(plan), 0),
    leading: leading === '' ? null : patterns.compile(leading, 0),
    types: numberTypes(plan).length === 0 ? null : types,
  };
}

function compileCallingCode(patterns: Patterns, code: string): CallingCode {
  const countries = plans.country_calling_codes[code];
  const rules =
    countries === undefined
      ? [compileRules(patterns, null, plans.nonGeographic[code]!)]
      : countries.map((country) => compileRules(patterns, country, plans.countries[country]!));
  const main = countries === undefined ? plans.nonGeographic[code]! : plans.countries[countries[0]!]!;
  const prefix = nationalPrefix(main) === '' ? null : patterns.compile(nationalPrefix(main), 0);
  const all = rules.flatMap((rule) => [rule.general, rule.leading, ...(rule.types ?? [])]).concat(prefix);
  return { rules, prefix, starts: all.flatMap((pattern) => (pattern === null ? [] : [pattern.start])) };
}

/** A state of the deterministic automaton: the nodes of the patterns after some digits of a national number. */
interface State {
  readonly code: CallingCode;
  readonly nodes: readonly number[];
  readonly digits: number;
  /** Accepting nodes of prefix patterns (leading digits, national prefix) that matched earlier digits. */
  readonly passed: readonly number[];
}

const unbuilt = -1;
const dead = 0;
const zero = 48; // the digit 0 in ASCII

class PlanTable {
  private readonly patterns = new Patterns();
  private readonly states: (State | null)[] = [null];
  private readonly numbers = new Map<string, number>();
  /** Ten transitions a state; states are built when a number first reaches them. */
  private steps = new Int32Array(10 * 1024).fill(unbuilt);
  private verdicts: (PlanVerdict | undefined)[] = [];
  /** State after each calling code; no calling code is the prefix of another. */
  private readonly roots = new Int32Array(1000).fill(unbuilt);

  constructor() {
    this.steps.fill(dead, 0, 10);
  }

  /** Judges `+` and digits. */
  judge(phone: string): PlanVerdict {
    let state = dead;
    let code = 0;
    let at = 1;
    for (; at < 4 && state === dead; at++) {
      code = code * 10 + phone.charCodeAt(at) - zero;
      state = this.roots[code]! === unbuilt ? this.buildRoot(code) : this.roots[code]!;
    }
    for (; at < phone.length && state !== dead; at++) {
      const digit = phone.charCodeAt(at) - zero;
      const next = this.steps[state * 10 + digit]!;
      state = next === unbuilt ? this.build(state, digit) : next;
    }
    return state === dead ? invalidVerdict : (this.verdicts[state] ??= this.verdict(this.states[state]!));
  }

  private buildRoot(code: number): number {
    const root = this.hasCallingCode(String(code)) ? this.makeRoot(String(code)) : dead;
    this.roots[code] = root;
    return root;
  }

  private hasCallingCode(code: string): boolean {
    return Object.hasOwn(plans.country_calling_codes, code) || Object.hasOwn(plans.nonGeographic, code);
  }

  private makeRoot(name: string): number {
    const code = compileCallingCode(this.patterns, name);
    return this.add({ code, nodes: this.patterns.closure(code.starts), digits: 0, passed: [] }, `${name}:`);
  }

  private build(from: number, digit: number): number {
    const { code, nodes, digits, passed } = this.states[from]!;
    const reached = this.patterns.follow(nodes, digit);
    const prefixes = [code.prefix, ...code.rules.map((rule) => rule.leading)].flatMap((pattern) =>
      pattern === null ? [] : [pattern.accept],
    );
    const passedNow = [...new Set([...passed, ...prefixes.filter((node) => reached.includes(node))])].sort(
      (a, b) => a - b,
    );
    const next =
      reached.length === 0 && passedNow.length === 0
        ? dead
        : this.add(
            { code, nodes: reached, digits: digits + 1, passed: passedNow },
            `${code.rules[0]!.general.start}:${digits + 1}:${reached.join()}:${passedNow.join()}`,
          );
    this.steps[from * 10 + digit] = next;
    return next;
  }

  private add(state: State, key: string): number {
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const number = this.states.push(state) - 1;
    this.numbers.set(key, number);
    if (this.steps.length < (number + 1) * 10) {
      const larger = new Int32Array(this.steps.length * 2).fill(unbuilt);
      larger.set(this.steps);
      this.steps = larger;
    }
    return number;
  }

  /** The verdict on a number that ends here, as in libphonenumber: parse.js, getCountryByNationalNumber.js, isValid.js. */
  private verdict(state: State): PlanVerdict {
    const { code } = state;
    const ended = this.patterns.follow(state.nodes, endOfNumber);
    if (code.prefix !== null && (state.passed.includes(code.prefix.accept) || ended.includes(code.prefix.accept)))
      return unsureVerdict;
    const main = code.rules[0]!;
    const owner = code.rules.length === 1 ? main : code.rules.find((rules) => this.belongs(state, rules));
    return this.isValid(state, owner ?? main) ? { kind: 'valid', country: owner?.country ?? null } : invalidVerdict;
  }

  private belongs(state: State, rules: Rules): boolean {
    return rules.leading === null
      ? this.isValid(state, { ...rules, types: rules.types ?? [] })
      : state.passed.includes(rules.leading.accept);
  }

  private isValid({ nodes, digits }: State, { general, types }: Rules): boolean {
    const matches = ({ accept, lengths }: Pattern) =>
      nodes.includes(accept) && (lengths === 0 || ((lengths >> digits) & 1) === 1);
    return matches(general) && (types === null || types.some(matches));
  }
}

const invalidVerdict: PlanVerdict = { kind: 'invalid' };
const unsureVerdict: PlanVerdict = { kind: 'unsure' };

let table: PlanTable | undefined;

/** The verdict of the numbering plans on a text of the form `^\+[1-9]\d{7,14}$`. */
export function lookUpPlan(phone: string): PlanVerdict {
  table ??= new PlanTable();
  return table.judge(phone);
}
