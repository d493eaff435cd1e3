import type { Box, PdfRevision } from '../../../letter-reading.ts';
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
} from '../pdf-fields.ts';
import { emptyDict, type PdfFile, type PdfObject } from '../pdf-file.ts';
import type { PdfPage } from '../pdf-pages.ts';
import { gapsOf, leadsTo, type RevisionSpan, type RevisionTable, type TableEntry } from './pdf-revisions.ts';
import { isDict, isName, isRef, type PdfDict, type PdfValue } from '../pdf-syntax.ts';
import { describeCatalogueKey, describeFieldKey, describePagePart, describeType } from './revision-words.ts';
import { isOfType, ValueComparison, type ComparisonBudget } from './value-comparison.ts';

/** What all comparisons of one letter share. */
export interface ComparisonContext {
  readonly file: PdfFile;
  readonly pages: readonly PdfPage[];
  /** The objects that refer to a number. */
  readonly references: ReadonlyMap<number, readonly PdfObject[]>;
  readonly budget: ComparisonBudget;
}

/** The document as it was after a revision. */
export class DocumentRevision {
  readonly span: RevisionSpan;
  readonly table: RevisionTable;
  readonly view: PdfFile;
  /** Of the tables of this revision and of those before it. */
  readonly entries: ReadonlyMap<number, TableEntry>;
  readonly root: PdfDict;
  readonly form: PdfDict;
  private knownFields: ReadonlyMap<PdfDict, Field> | null = null;

  constructor(file: PdfFile, span: RevisionSpan, table: RevisionTable, before?: DocumentRevision) {
    [this.span, this.table, this.view] = [span, table, file.asOf(span.end, table.trailer)];
    this.entries = before === undefined ? table.entries : new Map([...before.entries, ...table.entries]);
    this.root = this.view.dictAt(table.trailer, 'Root');
    this.form = this.view.dictAt(this.root, 'AcroForm');
  }

  /** @throws LetterRefused `letter_limit_exceeded` */
  get fields(): ReadonlyMap<PdfDict, Field> {
    return (this.knownFields ??= findFields(this.view, this.form));
  }
}

type RevisionVerdict = Pick<PdfRevision, 'kind' | 'changes'>;

/** Where a revision draws a signature. */
export interface DrawnSignature {
  readonly name: string;
  /** From 1. */
  readonly page: number;
  readonly box: Box;
}

const other = (...changes: string[]): RevisionVerdict => ({ kind: 'other', changes });

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

/** Roles that leave much of an object open: no other object may use it for something else. The others are checked entry by entry. */
const openRoles: ReadonlySet<Role> = new Set([
  'form',
  'field list',
  'annotation list',
  'properties',
  'metadata',
  'validation data',
  'permissions',
]);

/** Flags of a field and of a widget that lock it (tables 221 and 165): read only; read only, locked, locked contents. */
const lockingFieldFlags = 1;
const lockingWidgetFlags = 64 | 128 | 512;
/** Entries of a signature field that signing may set. Programs that draw nothing make its rectangle empty; one over text is found. */
const signingKeys = new Set('V AP AS F Ff M MK DA P Rect'.split(' '));
const widgetKeys = new Set(
  'Type Subtype FT T TU TM F Ff Rect P V AP AS MK DA DR Q Parent Kids M NM Border BS H Lock SV StructParent'.split(' '),
);
const validationKeys = new Set('Type VRI Certs CRLs OCSPs Cert CRL OCSP TU TS'.split(' '));

/** Compares a document before and after one revision. */
export class RevisionComparison {
  private readonly context: ComparisonContext;
  private readonly old: DocumentRevision;
  private readonly new: DocumentRevision;
  private readonly before: PdfFile;
  private readonly after: PdfFile;
  private readonly values: ValueComparison;
  private readonly changes: string[] = [];
  private readonly added: readonly PdfObject[];
  private readonly roles = new Map<number, Set<Role>>();
  /** Fields that waited for a signature, and that were filled in. */
  private readonly filled: Field[] = [];
  private readonly signed: { readonly field: Field; readonly value: PdfDict }[] = [];
  /** Where the signatures that this revision made are drawn. */
  readonly drawn: DrawnSignature[] = [];
  private locksField = false;
  private changesProperties = false;

  constructor(context: ComparisonContext, before: DocumentRevision, after: DocumentRevision) {
    [this.context, this.old, this.new, this.before, this.after] = [context, before, after, before.view, after.view];
    this.values = new ValueComparison(this.before, this.after, context.budget);
    const { start: from, end } = after.span;
    this.added = context.file.all.filter(({ start }) => start >= from && start < end);
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
    const { table } = this.new;
    if (table.trailer.entries.get('Prev') !== this.old.span.tableAt)
      this.changes.push('the table of objects does not continue the one before');
    if (!this.values.isSame(this.old.table.trailer.entries.get('Root'), table.trailer.entries.get('Root')))
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
    const known = this.old.entries.get(number);
    const isKnown = JSON.stringify(known) === JSON.stringify(entry);
    if (entry.kind === 'free') {
      if (!isKnown && (this.before.object(number) !== undefined || own !== undefined))
        this.changes.push(`${this.describe(number)} was taken away`);
    } else if (own === undefined ? !isKnown : !leadsTo(entry, own))
      this.changes.push(`${this.describe(number)} was replaced through the table of objects`);
  }

  /** Only the table, comments and white space may be between the objects. */
  private checkBytesBetween(): void {
    const { span, table } = this.new;
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
    for (const key of this.values.changedKeys(this.old.root, this.new.root))
      if (!free.has(key)) this.changes.push(describeCatalogueKey(key));
    const metadata = this.after.entry(this.new.root, 'Metadata');
    if (metadata !== null && !(isDict(metadata) && isName(metadata.entries.get('Type'), 'Metadata')))
      this.changes.push('catalogue: Metadata');
  }

  private checkForm(): void {
    const [before, after] = [this.old.form, this.new.form];
    if (after === emptyDict) {
      if (before !== emptyDict) this.changes.push('the form was taken away');
      return;
    }
    const hasOtherFields = [...this.old.fields.values()].some(({ dict }) => !isSignatureField(this.before, dict));
    const free = new Set(['Type', 'Fields', 'SigFlags', ...(hasOtherFields ? [] : ['DR', 'DA'])]);
    for (const key of this.values.changedKeys(before, after))
      if (!free.has(key) && !(key === 'NeedAppearances' && after.entries.get(key) === false))
        this.changes.push(`form: ${key}`);
    const fields = this.after.itemsAt(after, 'Fields');
    if (fields.includes(null)) this.changes.push('the program that signed damaged the list of form fields');
    const kept = fields.filter((item) => !this.isNewSignatureField(item));
    if (!this.values.isSameList(this.before.itemsAt(before, 'Fields'), kept))
      this.changes.push('form fields were added, taken away or moved');
  }

  /** A reference to an object that this revision adds: a field of the type Sig or its widget. */
  private isNewSignatureField(item: PdfValue): boolean {
    return (
      isRef(item) &&
      this.before.object(item.number) === undefined &&
      isSignatureField(this.after, this.after.dictOf(item))
    );
  }

  private checkPermissions(): void {
    const [before, after] = [this.before.dictAt(this.old.root, 'Perms'), this.after.dictAt(this.new.root, 'Perms')];
    for (const key of this.values.changedKeys(before, after)) {
      const value = this.after.entry(after, key);
      const isOwn =
        key === 'DocMDP' &&
        isDict(value) &&
        [...this.new.fields.keys()].some((dict) => inherited(this.after, dict, 'V') === value) &&
        this.added.some((object) => object.value === value);
      if (!isOwn) this.changes.push(`permissions: ${key}`);
    }
  }

  /** True if the validation data (ETSI EN 319 142-1 section 5.4) are others than before. */
  private checkValidationData(): boolean {
    const [before, after] = [this.before.dictAt(this.old.root, 'DSS'), this.after.dictAt(this.new.root, 'DSS')];
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

  /** Assigns the objects of the document before that an update may define again to their roles. */
  private assignRoles(): void {
    const {
      before,
      old: { root },
    } = this;
    const { trailer } = this.old.table;
    const pages = this.context.pages.map(({ object }) => object);
    const validation = before.entry(root, 'DSS');
    const numbers: Record<Role, readonly number[]> = {
      catalogue: numberOf(trailer.entries.get('Root')),
      form: numberOf(root.entries.get('AcroForm')),
      'field list': numberOf(this.old.form.entries.get('Fields')),
      properties: numberOf(trailer.entries.get('Info')),
      metadata: numberOf(root.entries.get('Metadata')),
      permissions: numberOf(root.entries.get('Perms')),
      field: [...this.old.fields.values()].flatMap(({ number }) => number ?? []),
      page: pages,
      'annotation list': pages.flatMap((page) =>
        numberOf(before.dictOf(before.object(page)?.value).entries.get('Annots')),
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
      // a new object may not be one that the document before referred to although it was missing
      if (this.references(object.number).length > 0)
        this.changes.push(`object ${object.number}, which the letter referred to before it was there`);
      return;
    }
    if (isOfType(object, 'XRef') && isOfType(old, 'XRef') && this.uses(object.number) === 0) return;
    if (old.generation !== object.generation)
      this.changes.push(`${this.describe(object.number)} has another generation`);
    if (this.values.isUnchanged(old, object)) return;
    if (!leadsTo(this.old.entries.get(object.number), old))
      this.changes.push(`${this.describe(object.number)}: readers do not agree on what it was`);
    const [role, ...others] = this.roles.get(object.number) ?? [];
    if (role === undefined || others.length > 0 || (object.stream !== null) !== (role === 'metadata'))
      this.changes.push(this.describe(object.number));
    else if (openRoles.has(role) && this.uses(object.number) > (role === 'properties' ? 0 : 1))
      this.changes.push(`${this.describe(object.number)} is used for two things`);
    else this.checkRole(role, old, object);
  }

  private references(number: number): PdfObject[] {
    return (this.context.references.get(number) ?? []).filter(({ start }) => start < this.new.span.start);
  }

  /** The number of references to an object in the document before, without those from objects that it had replaced. */
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
      for (const key of this.values.changedKeys(old.value as PdfDict, object.value as PdfDict))
        if (key !== 'Annots') this.changes.push(`page ${at}: ${key === 'Contents' ? 'content' : key}`);
    }
    if (role === 'properties' || role === 'metadata') this.changesProperties = true;
    if (role === 'metadata' && !(isOfType(object, 'Metadata') && isOfType(old, 'Metadata')))
      this.changes.push(this.describe(object.number));
  }

  /** A field may be signed where it was not, and any field may be locked. */
  private checkField(old: PdfObject, object: PdfObject): void {
    const [before, after] = [old.value as PdfDict, object.value as PdfDict];
    const name = this.old.fields.get(before)?.name ?? '';
    const isOpen =
      isSignatureField(this.before, before) &&
      inherited(this.before, before, 'V') === null &&
      isSignatureField(this.after, after);
    for (const key of this.values.changedKeys(before, after)) {
      if (isOpen && signingKeys.has(key)) this.filled.push({ number: object.number, dict: after, name });
      else if (this.isLock(key, before, after)) this.locksField = true;
      else
        this.changes.push(
          `form field ${name}: ${describeFieldKey(key, this.before.entry(before, 'V'), this.after.entry(after, 'V'))}`,
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

  /** Finds the fields that this revision signed. */
  private findSigned(): void {
    const values = new Set<PdfValue>(
      [...this.old.fields.values()].map(({ dict }) => inherited(this.before, dict, 'V')),
    );
    for (const field of this.new.fields.values()) {
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
    const takesOver = this.after
      .itemsAt(dict, 'Kids')
      .some((kid) => !isRef(kid) || this.before.object(kid.number) !== undefined);
    if (takesOver) this.changes.push(`form field ${name} takes over a place of another one`);
  }

  private checkPages(): void {
    for (const [at, { object }] of this.context.pages.entries()) {
      const [before, after] = [this.before.object(object)?.value, this.after.object(object)?.value];
      if (!isDict(before) || !isDict(after)) continue;
      const [old, now] = [this.before.itemsAt(before, 'Annots'), this.after.itemsAt(after, 'Annots')];
      const kept = now.filter((item) => !this.isNewSignatureField(item));
      const how =
        kept.length > old.length
          ? 'annotation added'
          : kept.length < old.length
            ? 'annotation taken away'
            : 'annotations changed';
      if (!this.values.isSameList(old, kept)) this.changes.push(`${how} on page ${at + 1}`);
      for (const item of now) if (!kept.includes(item)) this.checkWidget(this.after.dictOf(item));
    }
  }

  /** A new widget belongs to a field of the form that was signed in this revision. */
  private checkWidget(widget: PdfDict): void {
    if (!this.isSigned(widget)) this.changes.push('a signature field that is not signed was added');
    if (!this.after.hasName(widget, 'Subtype', 'Widget'))
      this.changes.push('an annotation was added at the place of a signature field');
    this.checkWidgetKeys(widget, fullFieldName(this.after, widget));
  }

  private checkWidgetKeys(widget: PdfDict, name: string): void {
    for (const key of widget.entries.keys()) if (!widgetKeys.has(key)) this.changes.push(`form field ${name}: ${key}`);
  }

  /** A signature shows itself in one place at most; a time stamp shows nothing. */
  private checkPlaces(): void {
    const shown = this.signed.flatMap(({ field: { name }, value }) =>
      this.placesOf(value).map((place) => ({ ...place, name, value })),
    );
    if (shown.length > 1) this.changes.push(`the signature ${shown[0]!.name} is drawn in ${shown.length} places`);
    for (const { name, value, page, box } of shown) {
      if (isTimeStamp(this.after, value)) this.changes.push(`the time stamp ${name} is drawn on page ${page}`);
      this.drawn.push({ name, page, box });
    }
  }

  /** Where annotations of any page show a signature's value, whether its field knows of them or not. */
  private placesOf(value: PdfDict): readonly FieldWidget[] {
    const places = placesOn(this.after, this.context.pages, (each) => inherited(this.after, each, 'V') === value);
    return places.filter(({ widget }) => !isHidden(this.after, widget));
  }

  /** True if the letter was certified before with no permitted changes (DocMDP with permission 1, section 12.8.2.2). */
  private forbidsSignature(): boolean {
    const certified = this.before.dictOf(this.before.dictAt(this.old.root, 'Perms').entries.get('DocMDP'));
    return this.before
      .itemsAt(certified, 'Reference')
      .some(
        (item) =>
          this.before.entry(this.before.dictOf(this.before.dictOf(item).entries.get('TransformParams')), 'P') === 1,
      );
  }

  /** An object in the words of the document before. */
  private describe(number: number): string {
    const field = [...this.old.fields.values()].find((each) => each.number === number);
    if (field !== undefined) return `form field ${field.name}`;
    const part = describePagePart(this.before, this.context.pages, number);
    return part ?? [...(this.roles.get(number) ?? [])][0] ?? describeType(this.before, number);
  }
}

function numberOf(value: PdfValue | undefined): number[] {
  return isRef(value) ? [value.number] : [];
}

/** The dictionaries of the validation data, which are three levels deep. Those of the table are digests of signatures. */
function validationDicts(
  view: PdfFile,
  dss: PdfDict,
): readonly { readonly dict: PdfDict; readonly hasFreeKeys: boolean }[] {
  const table = view.dictAt(dss, 'VRI');
  const ofSignatures = [...table.entries.values()].map((each) => view.dictOf(each));
  return [{ dict: table, hasFreeKeys: true }, ...[dss, ...ofSignatures].map((dict) => ({ dict, hasFreeKeys: false }))];
}

/** Numbers of the dictionaries, lists and streams of the validation data. */
function numbersIn(view: PdfFile, dss: PdfDict): Set<number> {
  const values = validationDicts(view, dss).flatMap(({ dict }) => [...dict.entries.values()]);
  return new Set(values.flatMap((value) => [value, ...view.itemsOf(value)]).flatMap(numberOf));
}
