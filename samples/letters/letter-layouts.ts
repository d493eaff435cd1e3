import { letterPhones, type Layout, type LetterFacts } from './letter-facts.ts';
import { fill, phrases } from './letter-words.ts';
import type { PageBox } from './pdf-page.ts';
import { drawScrawl, paintScrawl } from './pen-stroke.ts';
import type { SamplePhone } from './sample-phones.ts';
import type { Seeded } from '../../runtime/seeded.ts';
import { breakLines, Sheet, type SheetStyle } from './sheet.ts';

/** The pages of a letter, and the place of its PDF signature if it gets one. */
export interface DrawnLetter {
  readonly sheet: Sheet;
  readonly signatureBox: { readonly page: number; readonly box: PageBox } | null;
  /** The name of the file of numbers in the letter's text. */
  readonly csvName: string;
}

type Draw = (letter: Letter) => void;

const layouts: Readonly<Record<Layout, Draw>> = {
  block_letter: (letter) => letter.asLetter(() => letter.numberList()),
  two_column_form: (letter) => letter.asForm(),
  number_table: (letter) => letter.asLetter(() => letter.numberTable()),
  short_email: (letter) => letter.asEmail(),
  two_pages: (letter) =>
    letter.asLetter(
      () => letter.say(letter.words.numbersOnNextPage),
      () => letter.scheduleOnNewPage(),
    ),
  csv_embedded: (letter) => letter.asLetter(() => letter.say(letter.random.pick(letter.words.numbersAttached))),
  csv_beside: (letter) => letter.asLetter(() => letter.say(letter.random.pick(letter.words.numbersAttached))),
  number_ranges: (letter) => letter.asLetter(() => letter.numberRange()),
  dense_paragraph: (letter) => letter.asLetter(() => letter.say(letter.words.numbersInline)),
};

/** Draws a letter in its layout; `style` overrides its random paper and print. */
export function drawLetter(facts: LetterFacts, random: Seeded, style: Partial<SheetStyle> = {}): DrawnLetter {
  const letter = new Letter(facts, random, style);
  layouts[facts.layout](letter);
  return { sheet: letter.sheet, signatureBox: letter.signatureBox, csvName: letter.csvName };
}

const accents: readonly (readonly [number, number, number])[] = [
  [0.1, 0.2, 0.45],
  [0.45, 0.1, 0.15],
  [0.05, 0.35, 0.25],
  [0.2, 0.2, 0.2],
];
const ink = [0.08, 0.1, 0.45] as const;

class Letter {
  readonly facts: LetterFacts;
  readonly sheet: Sheet;
  readonly csvName: string;
  signatureBox: { page: number; box: PageBox } | null = null;
  readonly random: Seeded;

  constructor(facts: LetterFacts, random: Seeded, style: Partial<SheetStyle>) {
    this.facts = facts;
    this.random = random;
    this.csvName = random.pick(['numbers.csv', 'telephone-numbers.csv', 'loa-numbers.csv']);
    this.sheet = new Sheet({
      country: facts.country,
      serif: random.chance(0.4),
      size: random.pick([10, 10.5, 11, 12]),
      margin: random.pick([64, 72]),
      runs: random.pick(['plain', 'plain', 'kerned', 'words'] as const),
      ...style,
    });
  }

  get words() {
    return phrases[this.facts.language];
  }

  /** A sentence of the letter's language with the facts in it. */
  filled(sentence: string): string {
    const { facts } = this;
    const phones = facts.phones.map(facts.writePhone);
    return fill(
      fill(sentence, { tradingAs: facts.dba === null ? '' : fill(this.words.tradingAs, { dba: facts.dba }) }),
      {
        legal: facts.legalName,
        display: facts.displayName,
        until: facts.untilText,
        date: facts.dateText,
        name: facts.signerName,
        count: String(phones.length),
        file: this.csvName,
        numbers:
          phones.length === 1
            ? phones[0]!
            : `${phones.slice(0, -1).join(', ')}${{ en: ' and ', de: ' und ', fr: ' et ', es: ' y ' }[facts.language]}${phones.at(-1)!}`,
        first: phones[0] ?? '',
        last: phones.at(-1) ?? '',
        phone: facts.contactPhone === null ? '' : facts.writePhone(facts.contactPhone),
      },
    ).replaceAll(',,', ',');
  }

  say(sentence: string): void {
    this.sheet.paragraph(this.filled(sentence));
  }

  /** French sets a space before a colon. */
  private labelled(label: string, value: string): string {
    return `${label}${this.facts.language === 'fr' ? ' ' : ''}: ${value}`;
  }

  asLetter(numbers: () => void, after: () => void = () => {}): void {
    this.letterhead();
    this.sheet.line(this.facts.dateText);
    this.sheet.space(0.8);
    for (const line of ['Caller Trust', 'Branded Calling Registration']) this.sheet.line(line);
    this.sheet.space(0.8);
    this.sheet.line(
      this.random.chance(0.5)
        ? this.random.pick(this.words.heading)
        : this.labelled(this.words.labels.about, this.words.subject),
      { bold: true },
    );
    this.sheet.space(0.8);
    this.say(this.random.pick(this.words.greeting));
    this.say(this.random.pick(this.words.grant));
    numbers();
    this.say(this.random.pick(this.words.ownership));
    this.say(this.random.pick(this.words.validity));
    this.closing();
    after();
  }

  private letterhead(): void {
    const { legalName, address, contactPhone } = this.facts;
    const accent = this.random.pick(accents);
    const align = this.random.pick(['left', 'centre', 'right'] as const);
    if (this.random.chance(0.4)) this.logo(accent);
    this.sheet.line(this.random.chance(0.4) ? legalName.toUpperCase() : legalName, {
      bold: true,
      size: 15,
      align,
      colour: accent,
    });
    for (const line of address) this.sheet.line(line, { size: 9, align, colour: 0.3 });
    if (contactPhone !== null) this.sheet.line(this.filled(this.words.contact), { size: 9, align, colour: 0.3 });
    this.sheet.rule();
    this.sheet.space(0.8);
  }

  /** A mark of the company: two squares in its colour. */
  private logo(accent: readonly [number, number, number]): void {
    const { left, page } = this.sheet;
    page.box({ x: left - 34, y: this.sheet.y - 6, width: 15, height: 15 }, { fill: accent });
    page.box({ x: left - 26, y: this.sheet.y + 3, width: 15, height: 15 }, { fill: 0.7 });
  }

  numberList(): void {
    this.say(this.random.pick(this.words.numbersBelow));
    const mark = this.random.pick(['•  ', '', 'count'] as const);
    for (const [index, phone] of this.facts.phones.entries())
      this.sheet.line(`${mark === 'count' ? `${index + 1}.  ` : mark}${this.facts.writePhone(phone)}`, { indent: 24 });
    this.sheet.space();
  }

  numberRange(): void {
    this.say(this.random.pick(this.words.numbersBelow));
    this.sheet.line(this.filled(this.words.range), { indent: 24 });
    this.sheet.space();
  }

  numberTable(): void {
    const { labels, uses } = this.words;
    this.say(this.random.pick(this.words.numbersBelow));
    const width = this.sheet.right - this.sheet.left;
    this.tableRow(['#', labels.number, labels.use], { widths: [30, width * 0.5 - 30, width * 0.5], bold: true });
    for (const [index, phone] of this.facts.phones.entries()) {
      this.tableRow([String(index + 1), this.facts.writePhone(phone), this.random.pick(uses)], {
        widths: [30, width * 0.5 - 30, width * 0.5],
      });
    }
    this.sheet.space();
  }

  private tableRow(
    texts: readonly string[],
    {
      widths,
      bold = false,
      height = this.sheet.style.size * 1.8,
    }: { widths: readonly number[]; bold?: boolean; height?: number },
  ): void {
    this.sheet.need(height);
    let x = this.sheet.left;
    for (const [index, text] of texts.entries()) {
      this.sheet.cell(text, { box: { x, y: this.sheet.y, width: widths[index]!, height }, bold, shaded: bold });
      x += widths[index]!;
    }
    this.sheet.y += height;
  }

  scheduleOnNewPage(): void {
    this.sheet.newPage();
    this.sheet.line(this.words.schedule, { bold: true, size: 13 });
    this.sheet.space(0.5);
    this.sheet.line(`${this.facts.legalName}, ${this.facts.dateText}`);
    this.sheet.space(1);
    if (this.random.chance(0.5)) this.numberTable();
    else this.inTwoColumns(this.facts.phones);
  }

  /** Numbers side by side: a reader must not join those of a row. */
  private inTwoColumns(phones: readonly SamplePhone[]): void {
    const half = Math.ceil(phones.length / 2);
    for (let row = 0; row < half; row++) {
      this.sheet.space();
      for (const [column, phone] of [phones[row], phones[row + half]].entries()) {
        const place = {
          x: this.sheet.left + 20 + column * 190,
          y: this.sheet.y,
          font: this.sheet.font(),
          size: this.sheet.style.size,
        };
        if (phone !== undefined) this.sheet.page.text(this.facts.writePhone(phone), place);
      }
    }
    this.sheet.space();
  }

  private closing(): void {
    this.sheet.need(130);
    this.sheet.line(this.random.pick(this.words.closing));
    this.signature();
    const { labels } = this.words;
    const labelled = this.random.chance(0.4);
    this.sheet.line(labelled ? this.labelled(labels.signer, this.facts.signerName) : this.facts.signerName);
    this.sheet.line(labelled ? this.labelled(labels.title, this.facts.signerTitle) : this.facts.signerTitle);
    this.sheet.line(this.facts.legalName);
    if (this.random.chance(0.6)) this.sheet.line(this.labelled(labels.date, this.facts.dateText));
  }

  /** The signature block, down to the line below it. */
  private signature(): void {
    const { sheet, facts } = this;
    const box = { x: sheet.left, y: sheet.y + 8, width: 190, height: 46 };
    this.sign(box);
    if (facts.signing === 'slash_s' || facts.signing === 'electronic_text') return;
    sheet.y = box.y + box.height;
    if (facts.signing !== 'pdf') sheet.page.line({ from: [box.x, sheet.y], to: [box.x + 220, sheet.y] });
    sheet.y += 2;
  }

  private sign(box: PageBox): void {
    const { sheet, facts } = this;
    switch (facts.signing) {
      case 'pdf':
        this.signatureBox = { page: sheet.pages.length, box };
        return;
      case 'slash_s':
        sheet.space(0.6);
        sheet.line(`/s/ ${facts.signerName}`);
        sheet.space(0.4);
        return;
      case 'electronic_text':
        sheet.space(0.6);
        sheet.line(this.filled(this.words.electronically));
        sheet.space(0.4);
        return;
      case 'script':
        sheet.page.text(facts.signerName, {
          x: box.x + 6,
          y: box.y + box.height - 10,
          font: 'script',
          size: 24,
          colour: ink,
        });
        return;
      case 'picture':
        sheet.page.image(paintScrawl(drawScrawl(this.random), { width: 380, height: 92 }), box);
        return;
      case 'strokes':
        sheet.page.stroke(
          drawScrawl(this.random).map(([x, y]) => [box.x + x * box.width, box.y + y * box.height] as const),
          { width: 1.3, colour: ink },
        );
        return;
      case 'none':
    }
  }

  asForm(): void {
    const { sheet, facts } = this;
    const { labels } = this.words;
    sheet.line(this.random.pick(this.words.heading), { bold: true, size: 15, align: 'centre' });
    sheet.space();
    this.say(this.random.pick(this.words.grant));
    this.formRow(labels.company, facts.legalName);
    if (facts.dba !== null) this.formRow(labels.dba, facts.dba);
    this.formRow(labels.display, facts.displayName);
    this.formRow(labels.address, facts.address.join(', '));
    this.formRow(labels.numbers, facts.phones.map(facts.writePhone).join(', '));
    this.formRow(labels.signer, facts.signerName);
    this.formRow(labels.title, facts.signerTitle);
    this.signatureRow(labels.signature);
    this.formRow(labels.date, facts.dateText);
    sheet.space();
    this.say(this.random.pick(this.words.ownership));
  }

  private get formWidths(): readonly [number, number] {
    return [150, this.sheet.right - this.sheet.left - 150];
  }

  private formRow(label: string, value: string): void {
    const { sheet } = this;
    const [labelWidth, valueWidth] = this.formWidths;
    const lines = breakLines(value, { font: sheet.font(), size: sheet.style.size, width: valueWidth - 10 });
    const height = sheet.style.size * (1.3 * lines.length + 0.8);
    sheet.need(height);
    sheet.cell(label, { box: { x: sheet.left, y: sheet.y, width: labelWidth, height }, bold: true, shaded: true });
    sheet.page.box({ x: sheet.left + labelWidth, y: sheet.y, width: valueWidth, height });
    for (const [index, line] of lines.entries()) {
      sheet.page.text(line, {
        x: sheet.left + labelWidth + 5,
        y: sheet.y + sheet.style.size * (1.3 * (index + 1) + 0.1),
        font: sheet.font(),
        size: sheet.style.size,
      });
    }
    sheet.y += height;
  }

  private signatureRow(label: string): void {
    const { sheet, facts } = this;
    const [labelWidth, valueWidth] = this.formWidths;
    if (facts.signing === 'slash_s') return this.formRow(label, `/s/ ${facts.signerName}`);
    if (facts.signing === 'electronic_text') return this.formRow(label, this.filled(this.words.electronically));
    const height = 52;
    sheet.need(height);
    sheet.cell(label, { box: { x: sheet.left, y: sheet.y, width: labelWidth, height }, bold: true, shaded: true });
    sheet.page.box({ x: sheet.left + labelWidth, y: sheet.y, width: valueWidth, height });
    this.sign({ x: sheet.left + labelWidth + 8, y: sheet.y + 3, width: 190, height: 46 });
    sheet.y += height;
  }

  asEmail(): void {
    const { sheet, facts } = this;
    const { labels } = this.words;
    const sender = facts.signerName
      .normalize('NFD')
      .replace(/[^A-Za-z ]/g, '')
      .toLowerCase()
      .trim()
      .replaceAll(' ', '.');
    sheet.line(this.labelled(labels.from, `${facts.signerName} <${sender}@mail.example>`));
    sheet.line(this.labelled(labels.to, 'letters@caller-trust.example'));
    sheet.line(this.labelled(labels.date, facts.dateText));
    sheet.line(this.labelled(labels.about, this.words.subject), { bold: true });
    sheet.rule();
    sheet.space();
    this.say(this.random.pick(this.words.greeting));
    this.say(this.random.pick(this.words.grant));
    this.say(this.words.numbersInline);
    this.say(this.random.pick(this.words.validity));
    this.closing();
  }
}

/** The file of numbers of a letter: one column, or two with the use of each number. */
export function writeCsv(facts: LetterFacts, random: Seeded): string {
  const uses = phrases[facts.language].uses;
  if (random.chance(0.5)) return `phone\n${letterPhones(facts).join('\n')}\n`;
  return `phone_number,description\r\n${letterPhones(facts)
    .map((phone) => `${phone},${random.pick(uses)}`)
    .join('\r\n')}\r\n`;
}
