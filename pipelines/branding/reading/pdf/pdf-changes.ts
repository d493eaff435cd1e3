import type { LetterPage, PdfRevision } from '../../letter-reading.ts';
import { LetterRefused } from '../gate/letter-refused.ts';
import { isOver, isWithin } from './page-geometry.ts';
import {
  findFields,
  fullFieldName,
  inherited,
  isHidden,
  isSignatureField,
  isTimeStamp,
  placesOn,
  type Field,
  type FieldWidget,
} from './pdf-fields.ts';
import { dictOf, emptyDict, itemsOf, type PdfFile, type PdfObject } from './pdf-file.ts';
import type { PdfPage } from './pdf-pages.ts';
import {
  gapsOf,
  leadsTo,
  readFirstTable,
  readRevisionTable,
  revisionLimits,
  splitRevisions,
  TableProblem,
  type RevisionSpan,
  type RevisionTable,
  type TableEntry,
} from './pdf-revisions.ts';
import { isArray, isDict, isName, isRef, isString, pdfText, type PdfDict, type PdfValue } from './pdf-syntax.ts';

/** A revision with what it changed of the one before. */
export interface ComparedRevision extends RevisionSpan, Pick<PdfRevision, 'kind' | 'changes'> {}

export interface ComparisonOptions {
  readonly file: PdfFile;
  readonly pages: readonly PdfPage[];
  /** The text and the pictures of the same pages. */
  readonly read: readonly LetterPage[];
}

/** Changes of one revision that are put into words; the rest is counted. */
const changesMax = 20;

/**
 * The revisions of a file, each compared with the one before, object by object. An update counts as a signature, as
 * validation data or as a time stamp only when each number that it defines again is explained by that, its table of
 * objects lists exactly the objects of its bytes, and nothing is drawn over text. Everything else is `other`.
 * @throws LetterRefused `letter_limit_exceeded`
 */
export function compareRevisions(options: ComparisonOptions): ComparedRevision[] {
  const { file } = options;
  const spans = splitRevisions(file);
  const [first, ...later] = spans;
  if (first === undefined)
    return [{ start: 0, mark: file.bytes.length, end: file.bytes.length, tableAt: 0, kind: 'original', changes: [] }];
  const compared: ComparedRevision[] = [{ ...first, kind: 'original', changes: [] }];
  if (later.length === 0) return compared;
  const context = {
    ...options,
    references: indexReferences(file),
    budget: { values: revisionLimits.comparedValuesMax },
  };
  const table = tableOrProblem(() => readFirstTable(file, first), file);
  let before: RevisionState = { ...table, view: file.asOf(first.end, table.trailer), tableAt: first.tableAt };
  for (const span of later) {
    const { changes, kind, state } = compareRevision(context, before, span);
    compared.push({ ...span, kind, changes: shortenChanges(changes) });
    before = state;
  }
  return compared;
}

function shortenChanges(changes: readonly string[]): string[] {
  const distinct = [...new Set(changes)];
  return distinct.length <= changesMax
    ? distinct
    : [...distinct.slice(0, changesMax), `${distinct.length - changesMax} more`];
}

interface Context extends ComparisonOptions {
  readonly references: ReadonlyMap<number, readonly PdfObject[]>;
  readonly budget: { values: number };
}

/** The file after a revision, with the entries of its tables; `problem` where readers do not agree on it. */
interface RevisionState {
  readonly view: PdfFile;
  readonly entries: ReadonlyMap<number, TableEntry>;
  readonly trailer: PdfDict;
  readonly tableAt: number;
  readonly problem: string | null;
}

function tableOrProblem(read: () => RevisionTable, file: PdfFile): RevisionTable & { readonly problem: string | null } {
  try {
    return { ...read(), problem: null };
  } catch (error) {
    if (!(error instanceof TableProblem)) throw error;
    return { entries: new Map(), places: [], trailer: file.trailers.at(-1) ?? emptyDict, problem: error.message };
  }
}

type RevisionVerdict = Pick<PdfRevision, 'kind' | 'changes'>;

const other = (...changes: string[]): RevisionVerdict => ({ kind: 'other', changes });

function compareRevision(
  context: Context,
  before: RevisionState,
  span: RevisionSpan,
): RevisionVerdict & { readonly state: RevisionState } {
  const table = tableOrProblem(() => readRevisionTable(context.file, span), context.file);
  const view = context.file.asOf(span.end, table.trailer);
  const problem = before.problem ?? table.problem;
  const state = {
    view,
    entries: new Map([...before.entries, ...table.entries]),
    trailer: table.trailer,
    tableAt: span.tableAt,
    problem,
  };
  return {
    ...(problem === null
      ? new RevisionComparison(context, { before, after: view, table, span }).compare()
      : other(problem)),
    state,
  };
}

/** The objects that refer to a number, once per reference, without the tables themselves. */
function indexReferences(file: PdfFile): Map<number, PdfObject[]> {
  const references = new Map<number, PdfObject[]>();
  const visit = (value: PdfValue, from: PdfObject): void => {
    if (isRef(value))
      references
        .set(value.number, references.get(value.number) ?? [])
        .get(value.number)!
        .push(from);
    else if (isArray(value) || isDict(value))
      for (const each of isArray(value) ? value.items : value.entries.values()) visit(each, from);
  };
  for (const object of file.all) if (!isOfType(object, 'XRef')) visit(object.value, object);
  return references;
}

function isOfType({ value }: PdfObject, type: string): boolean {
  return isDict(value) && isName(value.entries.get('Type'), type);
}

/** The role in the document of an object that an update may define again. */
type Role =
  | 'catalogue'
  | 'form'
  | 'field list'
  | 'page'
  | 'annotation list'
  | 'field'
  | 'properties'
  | 'metadata'
  | 'validation data'
  | 'permissions';

/** Roles that leave much of an object open: no other object may use it for something else. */
const exclusiveRoles: readonly Role[] = [
  'form',
  'field list',
  'annotation list',
  'properties',
  'metadata',
  'validation data',
  'permissions',
];

/** Flags of a field and of a widget that lock it (tables 221 and 165): read only; read only, locked, locked contents. */
const lockingFieldFlags = 1;
const lockingWidgetFlags = 64 | 128 | 512;
/** Entries of a signature field that signing may set; its rectangle is not among them. */
const signingKeys = new Set(['V', 'AP', 'AS', 'F', 'Ff', 'M', 'MK', 'DA', 'P']);
const widgetKeys = new Set(
  'Type Subtype FT T TU TM F Ff Rect P V AP AS MK DA DR Q Parent Kids M NM Border BS H Lock SV StructParent'.split(' '),
);
const validationKeys = new Set('Type VRI Certs CRLs OCSPs Cert CRL OCSP TU TS'.split(' '));

interface RevisionPair {
  readonly before: RevisionState;
  readonly after: PdfFile;
  readonly table: RevisionTable;
  readonly span: RevisionSpan;
}

class RevisionComparison {
  private readonly context: Context;
  private readonly pair: RevisionPair;
  private readonly before: PdfFile;
  private readonly after: PdfFile;
  private readonly changes: string[] = [];
  private readonly added: readonly PdfObject[];
  private readonly roles = new Map<number, Set<Role>>();
  private readonly rootBefore: PdfDict;
  private readonly rootAfter: PdfDict;
  private readonly formBefore: PdfDict;
  private readonly formAfter: PdfDict;
  private readonly fieldsBefore: ReadonlyMap<PdfDict, Field>;
  private readonly fieldsAfter: ReadonlyMap<PdfDict, Field>;
  /** Fields that waited for a signature, and that were filled in. */
  private readonly filled: Field[] = [];
  private readonly signed: { readonly field: Field; readonly value: PdfDict }[] = [];
  private locksField = false;
  private changesProperties = false;

  constructor(context: Context, pair: RevisionPair) {
    this.context = context;
    this.pair = pair;
    this.before = pair.before.view;
    this.after = pair.after;
    this.added = context.file.all.filter(({ start }) => start >= pair.span.start && start < pair.span.end);
    [this.rootBefore, this.rootAfter] = [
      dictOf(this.before, pair.before.trailer.entries.get('Root')),
      dictOf(this.after, pair.table.trailer.entries.get('Root')),
    ];
    [this.formBefore, this.formAfter] = [
      dictOf(this.before, this.rootBefore.entries.get('AcroForm')),
      dictOf(this.after, this.rootAfter.entries.get('AcroForm')),
    ];
    this.fieldsBefore = findFields(this.before, this.formBefore);
    this.fieldsAfter = findFields(this.after, this.formAfter);
  }

  compare(): RevisionVerdict {
    this.checkTable();
    this.checkBytesBetween();
    this.checkCatalogue();
    this.checkForm();
    this.checkPermissions();
    const addsValidation = this.checkValidationData();
    this.assignRoles();
    for (const object of this.added) this.checkObject(object);
    this.findSigned();
    this.checkPages();
    this.checkPlaces();
    for (const { dict, name } of this.filled)
      if (!this.isSigned(dict)) this.changes.push(`form field ${name} was changed without a signature`);
    const [only, ...more] = this.signed;
    if (this.changes.length > 0) return other(...this.changes);
    if (more.length > 0) return other('more than one signature was added at once');
    if (only !== undefined && isTimeStamp(this.after, only.value)) return { changes: [], kind: 'time_stamp' };
    if (only !== undefined)
      return this.forbidsSignature()
        ? other('a signature was added to a letter that is certified to stay as it is')
        : { changes: [], kind: 'signature' };
    if (addsValidation || this.locksField) return { changes: [], kind: 'validation' };
    return other(this.changesProperties ? 'document properties' : 'objects that nothing shows');
  }

  /** True if a field or widget has a signature that this revision made. */
  private isSigned(dict: PdfDict): boolean {
    const own = inherited(this.after, dict, 'V');
    return this.signed.some(({ value }) => value === own);
  }

  /** The table lists each object of the update at its offset, and does not move any other. */
  private checkTable(): void {
    const { before, table } = this.pair;
    if (table.trailer.entries.get('Prev') !== before.tableAt)
      this.changes.push('the table of objects does not continue the one before');
    if (!this.isSame(before.trailer.entries.get('Root'), table.trailer.entries.get('Root')))
      this.changes.push('another catalogue');
    const own = new Map<number, PdfObject>();
    for (const object of this.added) {
      if (own.has(object.number)) this.changes.push(`object ${object.number} is defined twice`);
      own.set(object.number, object);
      const isTable = table.places.some(({ start }) => start === object.start && object.packed === null);
      if (!isTable && !leadsTo(table.entries.get(object.number), object))
        this.changes.push(`object ${object.number} is not where the table says`);
    }
    for (const [number, entry] of table.entries) this.checkEntry(number, entry, own.get(number));
  }

  private checkEntry(number: number, entry: TableEntry, own: PdfObject | undefined): void {
    const known = this.pair.before.entries.get(number);
    const isKnown = JSON.stringify(known) === JSON.stringify(entry);
    if (entry.kind === 'free') {
      if (!isKnown && (this.before.object(number) !== undefined || own !== undefined))
        this.changes.push(`${this.describe(number)} was taken away`);
    } else if (own === undefined ? !isKnown : !leadsTo(entry, own))
      this.changes.push(`${this.describe(number)} was replaced through the table of objects`);
  }

  /** Only the table, comments and white space may be between the objects. */
  private checkBytesBetween(): void {
    const { span, table } = this.pair;
    for (const { start, text } of gapsOf(this.context.file, span.start, span.end)) {
      let left = text;
      for (const place of table.places) {
        const [from, to] = [place.start - start, place.end - start];
        if (from >= 0 && from < left.length)
          left = `${left.slice(0, from)} ${left.slice(Math.min(to, left.length))}`.padEnd(text.length);
      }
      const rest = left
        .replace(/startxref[\0\t\n\f\r ]+\d+[\0\t\n\f\r ]+%%EOF/, ' ')
        .replace(/%[^\r\n]*/g, ' ')
        .replace(/\b(?:endstream|endobj)\b/g, ' ');
      if (/[^\0\t\n\f\r ]/.test(rest)) this.changes.push('bytes that belong to no object');
    }
  }

  private checkCatalogue(): void {
    const free = new Set(['AcroForm', 'DSS', 'Perms', 'Extensions', 'Version', 'Metadata']);
    for (const key of this.changedKeys(this.rootBefore, this.rootAfter))
      if (!free.has(key)) this.changes.push(catalogueWords[key] ?? `catalogue: ${key}`);
    const metadata = this.after.entry(this.rootAfter, 'Metadata');
    if (metadata !== null && !(isDict(metadata) && isName(metadata.entries.get('Type'), 'Metadata')))
      this.changes.push('catalogue: Metadata');
  }

  private checkForm(): void {
    const [before, after] = [this.formBefore, this.formAfter];
    if (after === emptyDict) {
      if (before !== emptyDict) this.changes.push('the form was taken away');
      return;
    }
    const hasOtherFields = [...this.fieldsBefore.values()].some(({ dict }) => !isSignatureField(this.before, dict));
    const free = new Set(['Type', 'Fields', 'SigFlags', ...(hasOtherFields ? [] : ['DR', 'DA'])]);
    for (const key of this.changedKeys(before, after))
      if (!free.has(key) && !(key === 'NeedAppearances' && after.entries.get(key) === false))
        this.changes.push(`form: ${key}`);
    const kept = itemsOf(this.after, after.entries.get('Fields')).filter((item) => !this.isNewSignatureField(item));
    if (!this.isSameList(itemsOf(this.before, before.entries.get('Fields')), kept))
      this.changes.push('form fields were added, taken away or moved');
  }

  /** A reference to an object that this revision adds: a field of the type Sig or its widget. */
  private isNewSignatureField(item: PdfValue): boolean {
    return (
      isRef(item) &&
      this.before.object(item.number) === undefined &&
      isSignatureField(this.after, dictOf(this.after, item))
    );
  }

  private checkPermissions(): void {
    const [before, after] = [
      dictOf(this.before, this.rootBefore.entries.get('Perms')),
      dictOf(this.after, this.rootAfter.entries.get('Perms')),
    ];
    for (const key of this.changedKeys(before, after)) {
      const value = this.after.entry(after, key);
      const isOwn =
        key === 'DocMDP' &&
        isDict(value) &&
        [...this.fieldsAfter.keys()].some((dict) => inherited(this.after, dict, 'V') === value) &&
        this.added.some((object) => object.value === value);
      if (!isOwn) this.changes.push(`permissions: ${key}`);
    }
  }

  /** True if the validation data (ETSI EN 319 142-1 section 5.4) are others than before. */
  private checkValidationData(): boolean {
    const [before, after] = [
      dictOf(this.before, this.rootBefore.entries.get('DSS')),
      dictOf(this.after, this.rootAfter.entries.get('DSS')),
    ];
    if (after === emptyDict) {
      if (before !== emptyDict) this.changes.push('validation data were taken away');
      return false;
    }
    for (const { dict, hasFreeKeys } of validationDicts(this.after, after)) {
      for (const key of dict.entries.keys())
        if (!hasFreeKeys && !validationKeys.has(key)) this.changes.push(`validation data: ${key}`);
    }
    const numbers = numbersIn(this.after, after);
    return before !== after && (before === emptyDict || this.added.some(({ number }) => numbers.has(number)));
  }

  /** What the numbers are that the document before has, as far as an update may define them again. */
  private assignRoles(): void {
    const { before, rootBefore: root } = this;
    const { trailer } = this.pair.before;
    const pages = this.context.pages.map(({ object }) => object);
    const validation = before.entry(root, 'DSS');
    const numbers: Record<Role, readonly number[]> = {
      catalogue: numberOf(trailer.entries.get('Root')),
      form: numberOf(root.entries.get('AcroForm')),
      'field list': numberOf(this.formBefore.entries.get('Fields')),
      properties: numberOf(trailer.entries.get('Info')),
      metadata: numberOf(root.entries.get('Metadata')),
      permissions: numberOf(root.entries.get('Perms')),
      field: [...this.fieldsBefore.values()].flatMap(({ number }) => number ?? []),
      page: pages,
      'annotation list': pages.flatMap((page) =>
        numberOf(dictOf(before, before.object(page)?.value).entries.get('Annots')),
      ),
      'validation data': isDict(validation)
        ? [...numbersIn(before, validation), ...numberOf(root.entries.get('DSS'))]
        : [],
    };
    for (const [role, own] of Object.entries(numbers) as [Role, readonly number[]][])
      for (const number of own) this.roles.set(number, (this.roles.get(number) ?? new Set()).add(role));
  }

  private checkObject(object: PdfObject): void {
    const old = this.before.object(object.number);
    if (old === undefined) {
      // a new number may not fill in what the document before referred to in vain
      if (this.references(object.number).length > 0)
        this.changes.push(`object ${object.number}, which the letter referred to before it was there`);
      return;
    }
    if (isOfType(object, 'XRef') && isOfType(old, 'XRef') && this.uses(object.number) === 0) return;
    if (old.generation !== object.generation)
      this.changes.push(`${this.describe(object.number)} has another generation`);
    if (this.isUnchanged(old, object)) return;
    if (!leadsTo(this.pair.before.entries.get(object.number), old))
      this.changes.push(`${this.describe(object.number)}: readers do not agree on what it was`);
    const [role, ...others] = this.roles.get(object.number) ?? [];
    if (role === undefined || others.length > 0 || (object.stream !== null) !== (role === 'metadata'))
      this.changes.push(this.describe(object.number));
    else if (exclusiveRoles.includes(role) && this.uses(object.number) > (role === 'properties' ? 0 : 1))
      this.changes.push(`${this.describe(object.number)} is used for two things`);
    else this.checkRole(role, old, object);
  }

  private references(number: number): PdfObject[] {
    return (this.context.references.get(number) ?? []).filter(({ start }) => start < this.pair.span.start);
  }

  /** How often the document before refers to a number, what it had replaced left out. */
  private uses(number: number): number {
    return this.references(number).filter((from) => this.before.object(from.number) === from).length;
  }

  private checkRole(role: Role, old: PdfObject, object: PdfObject): void {
    const isOfKind =
      isDict(object.value) || role === 'field list' || role === 'annotation list' || role === 'validation data';
    if (!isOfKind) return void this.changes.push(this.describe(object.number));
    if (role === 'field') this.checkField(old, object);
    if (role === 'page') {
      const at = this.context.pages.findIndex((page) => page.object === object.number) + 1;
      for (const key of this.changedKeys(old.value as PdfDict, object.value as PdfDict))
        if (key !== 'Annots') this.changes.push(`page ${at}: ${key === 'Contents' ? 'content' : key}`);
    }
    if (role === 'properties' || role === 'metadata') this.changesProperties = true;
    if (role === 'metadata' && !(isOfType(object, 'Metadata') && isOfType(old, 'Metadata')))
      this.changes.push(this.describe(object.number));
  }

  /** A field may be signed where it was not, and any field may be locked. */
  private checkField(old: PdfObject, object: PdfObject): void {
    const [before, after] = [old.value as PdfDict, object.value as PdfDict];
    const name = this.fieldsBefore.get(before)?.name ?? '';
    const isOpen =
      isSignatureField(this.before, before) &&
      inherited(this.before, before, 'V') === null &&
      isSignatureField(this.after, after);
    for (const key of this.changedKeys(before, after)) {
      if (isOpen && signingKeys.has(key)) this.filled.push({ number: object.number, dict: after, name });
      else if (this.isLock(key, before, after)) this.locksField = true;
      else
        this.changes.push(
          `form field ${name}: ${key === 'V' ? `${valueWords(this.before.entry(before, 'V'))} became ${valueWords(this.after.entry(after, 'V'))}` : (fieldKeyWords[key] ?? key)}`,
        );
    }
  }

  private isLock(key: string, before: PdfDict, after: PdfDict): boolean {
    const locks = key === 'Ff' ? lockingFieldFlags : key === 'F' ? lockingWidgetFlags : 0;
    const [from, to] = [this.before.entry(before, key) ?? 0, this.after.entry(after, key)];
    return (
      locks !== 0 &&
      typeof from === 'number' &&
      typeof to === 'number' &&
      (from & to) === from &&
      (to & ~from & ~locks) === 0
    );
  }

  /** The fields that have a signature now and had none. */
  private findSigned(): void {
    const values = new Set<PdfValue>(
      [...this.fieldsBefore.values()].map(({ dict }) => inherited(this.before, dict, 'V')),
    );
    for (const field of this.fieldsAfter.values()) {
      const { dict, name } = field;
      if (!isSignatureField(this.after, dict)) continue;
      const value = inherited(this.after, dict, 'V');
      const isNew = field.number !== null && this.before.object(field.number) === undefined;
      if (isNew) this.checkNewField(field);
      if (!isDict(value)) {
        if (isNew) this.changes.push(`form field ${name} was added`);
        continue;
      }
      if (values.has(value) || this.added.every((object) => object.value !== value && object.value !== dict)) continue;
      values.add(value);
      this.signed.push({ field, value });
    }
  }

  private checkNewField({ dict, name }: Field): void {
    this.checkWidgetKeys(dict, name);
    const takesOver = itemsOf(this.after, dict.entries.get('Kids')).some(
      (kid) => !isRef(kid) || this.before.object(kid.number) !== undefined,
    );
    if (takesOver) this.changes.push(`form field ${name} takes over a place of another one`);
  }

  private checkPages(): void {
    for (const [at, { object }] of this.context.pages.entries()) {
      const [before, after] = [this.before.object(object)?.value, this.after.object(object)?.value];
      if (!isDict(before) || !isDict(after)) continue;
      const [old, now] = [
        itemsOf(this.before, before.entries.get('Annots')),
        itemsOf(this.after, after.entries.get('Annots')),
      ];
      const kept = now.filter((item) => !this.isNewSignatureField(item));
      const how =
        kept.length > old.length
          ? 'annotation added'
          : kept.length < old.length
            ? 'annotation taken away'
            : 'annotations changed';
      if (!this.isSameList(old, kept)) this.changes.push(`${how} on page ${at + 1}`);
      for (const item of now) if (!kept.includes(item)) this.checkWidget(dictOf(this.after, item));
    }
  }

  /** A new widget belongs to a field of the form that was signed in this revision. */
  private checkWidget(widget: PdfDict): void {
    if (!this.isSigned(widget)) this.changes.push('a signature field that is not signed was added');
    if (!isName(this.after.entry(widget, 'Subtype'), 'Widget'))
      this.changes.push('an annotation was added in the place of a signature field');
    this.checkWidgetKeys(widget, fullFieldName(this.after, widget));
  }

  private checkWidgetKeys(widget: PdfDict, name: string): void {
    for (const key of widget.entries.keys()) if (!widgetKeys.has(key)) this.changes.push(`form field ${name}: ${key}`);
  }

  /** A signature shows itself in one place at most, and not over the letter; a time stamp shows nothing. */
  private checkPlaces(): void {
    const shown = this.signed.flatMap(({ field: { name }, value }) =>
      this.placesOf(value).map((place) => ({ ...place, name, value })),
    );
    if (shown.length > 1) this.changes.push(`the signature ${shown[0]!.name} is drawn in ${shown.length} places`);
    for (const { name, value, page, box } of shown) {
      if (isTimeStamp(this.after, value)) this.changes.push(`the time stamp ${name} is drawn on page ${page}`);
      const read = this.context.read[page - 1];
      const covers = read?.lines.some((line) => /[\p{L}\p{N}]/u.test(line.text) && isOver(box, line.box));
      const coversPicture = read?.marks.some((mark) => !isWithin(mark.box, box) && isOver(box, mark.box));
      if (covers === true || coversPicture === true)
        this.changes.push(`the signature ${name} is drawn over the text or a picture of page ${page}`);
    }
  }

  /** Where annotations of any page show a signature's value, whether its field knows of them or not. */
  private placesOf(value: PdfDict): readonly FieldWidget[] {
    const places = placesOn({
      view: this.after,
      pages: this.context.pages,
      isWanted: (widget) => inherited(this.after, widget, 'V') === value,
    });
    return places.filter(({ widget }) => !isHidden(this.after, widget));
  }

  /** True if the letter was certified before with no permitted changes (DocMDP with permission 1, section 12.8.2.2). */
  private forbidsSignature(): boolean {
    const certified = dictOf(
      this.before,
      dictOf(this.before, this.rootBefore.entries.get('Perms')).entries.get('DocMDP'),
    );
    return itemsOf(this.before, certified.entries.get('Reference')).some(
      (item) =>
        this.before.entry(dictOf(this.before, dictOf(this.before, item).entries.get('TransformParams')), 'P') === 1,
    );
  }

  private isUnchanged(old: PdfObject, object: PdfObject): boolean {
    const { bytes } = this.context.file;
    if ((old.stream === null) !== (object.stream === null) || !this.isSame(old.value, object.value)) return false;
    return (
      old.stream === null ||
      Buffer.compare(
        bytes.subarray(old.stream.start, old.stream.end),
        bytes.subarray(object.stream!.start, object.stream!.end),
      ) === 0
    );
  }

  private changedKeys(before: PdfDict, after: PdfDict): string[] {
    const keys = new Set([...before.entries.keys(), ...after.entries.keys()]);
    return [...keys].filter((key) => !this.isSame(before.entries.get(key), after.entries.get(key)));
  }

  private isSameList(before: readonly PdfValue[], after: readonly PdfValue[]): boolean {
    return before.length === after.length && before.every((item, at) => this.isSame(item, after[at]));
  }

  /** True for the same value before and after. The target of a reference to the same number is compared on its own. */
  private isSame(before: PdfValue | undefined, after: PdfValue | undefined, hops = 0): boolean {
    if (--this.context.budget.values < 0)
      throw new LetterRefused(
        'letter_limit_exceeded',
        `Comparing the revisions of the PDF takes more than ${revisionLimits.comparedValuesMax} values.`,
      );
    if (isRef(before) && isRef(after) && before.number === after.number) return before.generation === after.generation;
    if (isRef(before) || isRef(after)) return hops < 8 && this.isSameTarget(before, after, hops + 1);
    if (isDict(before) && isDict(after))
      return (
        before.entries.size === after.entries.size &&
        [...before.entries].every(
          ([key, value]) => after.entries.has(key) && this.isSame(value, after.entries.get(key), hops),
        )
      );
    if (isArray(before) && isArray(after))
      return (
        before.items.length === after.items.length &&
        before.items.every((item, at) => this.isSame(item, after.items[at], hops))
      );
    if (isString(before) && isString(after)) return Buffer.compare(before.bytes, after.bytes) === 0;
    if (isName(before) && isName(after)) return before.name === after.name;
    if (typeof before === 'number' && typeof after === 'number') return Math.abs(before - after) <= roundingMax;
    return (before ?? null) === (after ?? null);
  }

  private isSameTarget(before: PdfValue | undefined, after: PdfValue | undefined, hops: number): boolean {
    const [old, now] = [
      isRef(before) ? this.before.object(before.number) : undefined,
      isRef(after) ? this.after.object(after.number) : undefined,
    ];
    const isFixed = (object: PdfObject | undefined) =>
      object !== undefined &&
      (object.stream !== null || ['Catalog', 'Pages', 'Page'].some((type) => isOfType(object, type)));
    if (isFixed(old) || isFixed(now)) return false; // a copy under another number is another page
    return this.isSame(isRef(before) ? old?.value : before, isRef(after) ? now?.value : after, hops);
  }

  /** A number in the words of the document before. */
  private describe(number: number): string {
    const field = [...this.fieldsBefore.values()].find((each) => each.number === number);
    if (field !== undefined) return `form field ${field.name}`;
    for (const [at, { object }] of this.context.pages.entries()) {
      const words = pagePart({ view: this.before, page: object, number, at: at + 1 });
      if (words !== null) return words;
    }
    const [role] = this.roles.get(number) ?? [];
    const type = this.before.entry(dictOf(this.before, this.before.object(number)?.value), 'Type');
    return (
      role ??
      (isName(type) ? (typeWords[type.name] ?? `object ${number} (${type.name.slice(0, 40)})`) : `object ${number}`)
    );
  }
}

/** Programs that write an object again round its numbers; a millionth of a point is nothing that a reader sees. */
const roundingMax = 1e-6;

const catalogueWords: Readonly<Record<string, string>> = {
  Pages: 'the tree of pages',
  OCProperties: 'layers',
  Names: 'the table of names',
  OpenAction: 'what happens on opening',
  AF: 'attached files',
  Outlines: 'bookmarks',
};
const typeWords: Readonly<Record<string, string>> = {
  Font: 'a font',
  FontDescriptor: 'a font',
  Pages: 'the tree of pages',
  OCG: 'a layer',
  ExtGState: 'a state of drawing',
  XObject: 'a picture or form',
  Catalog: 'the catalogue',
  Sig: 'a signature',
  ObjStm: 'a stream of objects',
};
const fieldKeyWords: Readonly<Record<string, string>> = {
  AP: 'its appearance',
  Rect: 'its place',
  F: 'its flags',
  Ff: 'its flags',
};

const shownCharactersMax = 60;

function valueWords(value: PdfValue): string {
  if (isString(value)) return `"${pdfText(value).replace(/\p{C}/gu, ' ').slice(0, shownCharactersMax)}"`;
  return isName(value) ? value.name.slice(0, shownCharactersMax) : value === null ? 'nothing' : 'another value';
}

/** The part of a page that a number is: its content, one of its resources or annotations; null for none. */
function pagePart({
  view,
  page,
  number,
  at,
}: {
  view: PdfFile;
  page: number;
  number: number;
  at: number;
}): string | null {
  const dict = view.object(page)?.value;
  if (page === number) return `page ${at}`;
  if (!isDict(dict)) return null;
  const isHere = (value: PdfValue | undefined) => isRef(value) && value.number === number;
  const contents = dict.entries.get('Contents');
  if (isHere(contents) || itemsOf(view, contents).some(isHere)) return `page ${at}: content`;
  if (itemsOf(view, dict.entries.get('Annots')).some(isHere)) return `annotation changed on page ${at}`;
  return reaches(view, inherited(view, dict, 'Resources'), number) ? `page ${at}: resources` : null;
}

/** True if a number is used below a value; six levels lead from a page's resources to the file of a font. */
function reaches(view: PdfFile, value: PdfValue, number: number): boolean {
  let left = 20_000;
  const visit = (at: PdfValue, depth: number): boolean => {
    if (--left < 0 || depth > 10) return false;
    if (isRef(at)) return at.number === number || visit(view.object(at.number)?.value ?? null, depth + 1);
    if (isArray(at)) return at.items.some((item) => visit(item, depth + 1));
    return isDict(at) && [...at.entries].some(([key, each]) => key !== 'Parent' && visit(each, depth + 1));
  };
  return visit(value, 0);
}

function numberOf(value: PdfValue | undefined): number[] {
  return isRef(value) ? [value.number] : [];
}

/** The dictionaries of the validation data, which are three levels deep. Those of the table are digests of signatures. */
function validationDicts(
  view: PdfFile,
  dss: PdfDict,
): readonly { readonly dict: PdfDict; readonly hasFreeKeys: boolean }[] {
  const table = dictOf(view, dss.entries.get('VRI'));
  const ofSignatures = [...table.entries.values()].map((each) => dictOf(view, each));
  return [{ dict: table, hasFreeKeys: true }, ...[dss, ...ofSignatures].map((dict) => ({ dict, hasFreeKeys: false }))];
}

/** Numbers of the dictionaries, lists and streams of the validation data. */
function numbersIn(view: PdfFile, dss: PdfDict): Set<number> {
  const values = validationDicts(view, dss).flatMap(({ dict }) => [...dict.entries.values()]);
  return new Set(values.flatMap((value) => [value, ...itemsOf(view, value)]).flatMap(numberOf));
}
