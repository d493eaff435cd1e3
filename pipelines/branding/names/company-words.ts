import { foldWords, foldWordsBothWays, type FoldedWord } from './name-folding.ts';

/** Legal forms of many countries, as folded words; those between two semicolons are equivalent. They do not distinguish companies. */
const legalFormLists: readonly string[] = [
  // English
  `inc, incorporated; corp, corporation; llc, l l c, limited liability company; ltd, limited; co, company;
   llp, l l p, limited liability partnership; lp, l p, limited partnership; plc, p l c, public limited company;
   pllc, p l l c; pc, p c, professional corporation; na, n a; pty ltd, pty limited, proprietary limited;
   pte ltd, pte limited; pvt ltd, private limited; co ltd, company limited; cic; dac; ulc; lllp; pbc; nfp; cyf; ccc;
   soc ltd`,
  // German
  `gmbh, g m b h, mbh, gesellschaft mit beschrankter haftung; ggmbh; ag, aktiengesellschaft; kg, kommanditgesellschaft;
   gmbh and co kg, gmbh co kg; ohg; gbr; ug, ug haftungsbeschrankt, unternehmergesellschaft; se;
   ev, e v, eingetragener verein; eg, e g; ek, e k, e kfm; kgaa; partg, partgmbb; stiftung`,
  // French, Spanish, Portuguese, Italian
  `sa, s a, sociedad anonima, societe anonyme, sociedade anonima, societa anonima;
   sas, s a s, societe par actions simplifiee; sasu; sarl, s a r l, societe a responsabilite limitee; eurl; sci; snc;
   sl, s l, sociedad limitada; slu, s l u; slp; sau; sll; sa de cv, s a de c v, sapi de cv;
   s de rl de cv, s de r l de c v; sc, s c; cia, compania, compagnie, companhia; ltda, limitada, l t d a; eireli; mei;
   lda; spa, s p a, societa per azioni; srl, s r l, societa a responsabilita limitata; srls; sapa; scarl`,
  // Netherlands, Belgium, Nordic and Baltic countries
  `bv, b v, besloten vennootschap; nv, n v, naamloze vennootschap; vof; bvba; vzw; asbl; ab, aktiebolag; hb;
   as, a s, aktieselskab, aksjeselskap; asa; aps, anpartsselskab; ivs; oy, osakeyhtio; oyj; oy ab; ry; ehf; hf;
   ou, osauhing; uab; sia`,
  // Central and eastern Europe, Turkey
  `sp z o o, spolka z o o, spolka z ograniczona odpowiedzialnoscia, sp zoo; spolka akcyjna; sp k; sp j;
   s r o, sro, spol s r o; kft, korlatolt felelossegu tarsasag; zrt; nyrt; bt; doo, d o o; dd, d d; ad; ood; eood; ike;
   epe; ae, a e; as ti, anonim sirketi, a s ti; ltd sti, limited sirketi; ооо, общество с ограниченнои ответственностью;
   зао; оао; пао; ао, акционерное общество; ип; тов; пп; тоо`,
  // Asia, Africa and the Near East
  `kk, k k, kabushiki kaisha, kabushiki gaisha; gk, godo kaisha; 株式会社; 有限会社; 合同会社; 合資会社; 一般社団法人; 股份有限公司; 有限责任公司; 有限公司;
   주식회사; 유한회사; pt, perseroan terbatas; tbk; sdn bhd, sendirian berhad; bhd, berhad; fze; fzc; fz llc; wll, w l l; saog;
   pjsc; qpsc; cc; rf; tnhh, cong ty tnhh, cong ty co phan`,
];

/** Forms that may precede the name in their countries. */
const leadingForms: ReadonlySet<string> = new Set(
  'ооо зао оао пао ао ип тов пп тоо pt uab sarl eurl sci 株式会社 有限会社 合同会社 合資会社 一般社団法人 주식회사 유한회사 tnhh'.split(
    ' ',
  ),
);

const formOf = new Map(
  legalFormLists
    .flatMap((list) => list.split(/;\s+/).map((names) => names.split(', ')))
    .flatMap((names) => names.map((name) => [name, names[0]!] as const)),
);

/** The most words that a legal form has. */
export const formWordsMax = Math.max(...[...formOf.keys()].map((name) => name.split(' ').length));

/** The legal form of some folded words (`inc` for incorporated), or undefined. */
export function legalFormOf(words: readonly string[]): string | undefined {
  return formOf.get(words.join(' '));
}

/** A company's name without its legal form and its article, and the form (`inc`, `gmbh`) where it has one. */
interface SplitName<Word> {
  readonly core: readonly Word[];
  readonly form: string | null;
}

/** The words of a company's name without its legal form, and the form (`inc`, `gmbh`), if it ends in one or begins with one. */
export function splitLegalForm<Word extends string | FoldedWord>(words: readonly Word[]): SplitName<Word> {
  const plain = words.map((word) => (typeof word === 'string' ? word : word.plain));
  for (let count = Math.min(formWordsMax, words.length - 1); count > 0; count--) {
    const last = legalFormOf(plain.slice(-count));
    if (last !== undefined) return { core: words.slice(0, -count), form: last };
  }
  for (let count = Math.min(formWordsMax, words.length - 1); count > 0; count--) {
    const first = legalFormOf(plain.slice(0, count));
    if (first !== undefined && leadingForms.has(first)) return { core: words.slice(count), form: first };
  }
  return { core: words, form: null };
}

/** A company's name, folded, without its article and its legal form. */
export function splitCompanyName(name: string): SplitName<FoldedWord> {
  const words = foldWordsBothWays(name);
  return splitLegalForm(words.length > 1 && words[0]!.plain === 'the' ? words.slice(1) : words);
}

/**
 * Words that describe a business without identifying it, folded, by their function in a name:
 * `joining` ones join others, `business`, `trade` and `place` ones are common to many, `contact` ones are in names of
 * help desks; `role` ones claim an office, a licence or a supply that the public trusts.
 */
const genericWordLists = {
  joining:
    'a an and the of for at by in on to with from und der die das den des fur von im am et le la les l du de des d y e el los las del do da dos das di della il lo gli i en op het een og och i para por pour und och ja ve и',
  business:
    'group groupe gruppe grupo gruppo holding holdings company companies co corporation corp business businesses enterprise enterprises services service servicios servizi servicos dienst dienste dienstleistungen solution solutions losungen ' +
    'partner partners associates international intl global worldwide industries industry ventures trading products systems system brands official team online digital net web app',
  trade:
    'auto automotive bakery backerei boulangerie panaderia bar barber beauty books boutique builders building cafe camera care catering cleaning coaching coffee computer computers construction consulting consultants contractors cosmetics ' +
    'delivery dental dentist dentistry design development diner doorbell driving eats electric electrical electronics engineering equipment events express fashion farm farms fitness florist flooring flowers food foods freight funding furniture garage garden gardens ' +
    'grill grocery gym hair hardware health heating home homes hotel hvac inn it jewelry kitchen landscaping language laundry lawn leasing logistics market marketing massage mechanical media motors moving music ' +
    'nails nursery office optical paint painting parts pet pets photo physio pizza plastics plumbing pools practice press print printer printing property properties radio real estate realty rental rentals repair repairs restaurant roofing sales salon security shipping ' +
    'shop shoes software solar spa sports staffing store storage studio studios supplies supply support surgery taxi tech technologies technology tools tours towing toys training transport travel tree trucking vet veterinary video wash windows wine works yoga ' +
    'apotheke arzt praxis zahnarzt autohaus werkstatt kanzlei steuerberatung hausverwaltung immobilien reinigung handel handwerk maler tischlerei friseur metzgerei restauration garage immobilier coiffure cabinet avocats pharmacie clinica abogados taller tienda farmacia peluqueria limpieza inmobiliaria',
  place:
    'first second third one best top new old great big community local regional central north south east west northern southern eastern western american america usa us uk european europe euro british canadian german ' +
    'deutsche deutscher deutsches francaise espanola nacional federale nazionale stadt premier prime quality professional pro advanced modern universal general standard superior total complete direct smart fast quick easy super mega plus united royal',
  role:
    'collections bank banks banking banque banco banca bankers savings building-society creditunion credit union mortgage insurance insurer assurance versicherung versicherungen seguros assicurazioni finance financial payment payments pay card cards ' +
    'treasury capital fund pension securities broker brokerage trust loan loans lending debt energy energie energia gas power utility utilities law legal tax school college healthcare clinic doctor doctors medical medicine pharma pharmacy water city county town village state federal national nationwide bundes municipal municipality relief forgiveness warrant warrants student agency lawyers attorneys exchange crypto wallet hospital krankenhaus klinikum klinik ambulance police polizei policia polizia gendarmerie sheriff fire feuerwehr emergency rescue customs zoll douane court courts gericht tribunal attorney prosecutor ministry ' +
    'ministerium ministere ministerio government gov gouvernement gobierno governo bundesamt finanzamt embassy consulate immigration revenue department dept bureau authority council commission election elections lottery mail post postal telecom telekom telecommunications ' +
    'mobile wireless broadband carrier airline airlines airways university charity foundation банк полиция страхование больница',
  contact:
    'paket paketdienst customer customers client clients care service services support help helpdesk desk helpline hotline line center centre call callcenter contact account accounts billing fraud alert alerts security verification verify notice notices info information department dept team office claims ' +
    'refund refunds prevention protection protect safe safety secure member members membership rewards reward tech technical assistance kundenservice kundendienst hilfe sicherheit betrug servicio cliente clientes atencion soporte assistance serviceclient my your the login update reply msg message messages text sms ground gift id code renewal subscription order orders package parcel tracking internet wireless warranty licence license division representative agent agents executive enquiries caller number',
} as const satisfies Readonly<Record<string, string>>;

/** The function of a word in the name of a business; see the list above. `form` is a word of a legal form. */
type GenericKind = keyof typeof genericWordLists | 'form';

const genericKinds = new Map<string, Set<GenericKind>>();
const genericLists: readonly (readonly [GenericKind, string])[] = [
  ...(Object.entries(genericWordLists) as [GenericKind, string][]),
  ['form', [...formOf.keys()].filter((name) => !name.includes(' ')).join(' ')],
];
for (const [kind, list] of genericLists) {
  for (const word of foldWords(list)) genericKinds.set(word, (genericKinds.get(word) ?? new Set()).add(kind));
}

/** All generic words, folded. */
export const genericWords: readonly string[] = [...genericKinds.keys()];

/** True if a word is generic, of one of the given kinds. */
export function isGeneric(word: FoldedWord, kinds?: readonly GenericKind[]): boolean {
  const known = [genericKinds.get(word.plain), genericKinds.get(word.spelledOut)];
  return known.some((found) => found !== undefined && (kinds === undefined || kinds.some((kind) => found.has(kind))));
}
