import { brandLimits } from '../pipelines/branding/brand-profile.ts';
import { RandomNumbers } from './random-numbers.ts';

/** Invented names of honest companies, as small and middle-sized businesses are named in six countries. */
export const families = (
  'Abbott Adler Aguilar Ahlgren Albrecht Alvarez Amann Andersen Archer Ashworth Baker Barlow Bauer Becker Beckett Bennett Berger Bertrand Bianchi Bishop Blackwell Blanchard Boudreau Brennan Brooks Brunner Caldwell Callahan Campos Carlson Carver ' +
  'Castillo Chambers Chang Chapman Chase Clarke Colombo Conrad Cooper Costa Crawford Cruz Dalton Davenport Delgado Dietrich Doyle Dubois Duncan Eberhardt Eklund Ellison Engel Escobar Esposito Ferrari Ferreira Fischer Fitzgerald Fleming Fontaine Foster Franke ' +
  'Gallagher Garner Gauthier Gibson Girard Goldberg Graf Greco Griffin Gutierrez Haas Hansen Harper Hartmann Hayes Heinrich Herrera Hoffmann Holloway Huber Hughes Ibarra Jansen Jensen Jimenez Kaiser Kaufmann Keller Kelly Koch Kowalski Kramer Krause Lambert Larsen ' +
  'Laurent Lehmann Leroy Lindgren Lloyd Lombardi Lopez Ludwig Lund Maier Marchetti Marino Marsh Martel Mayer McAllister Mendoza Mercer Meyer Moreau Morgan Moser Mueller Müller Navarro Neumann Nilsson Novak OBrien Ochoa Olsen Ortega Palmer Parsons Pereira Petit ' +
  'Pfeiffer Pohl Price Quinn Ramirez Rausch Reed Reuter Ricci Richter Rivera Romano Rossi Roth Rousseau Russo Salazar Sanders Santoro Sauer Schäfer Schmidt Schneider Scholz Schreiber Schröder Schulz Schwarz Seidel Silva Simmons Sommer Stein Stewart Sullivan Suzuki ' +
  'Tanaka Thiel Thornton Torres Tucker Turner Vargas Vega Vogel Vogt Wagner Walker Wallace Walsh Weaver Weber Weiß Werner Whitaker Winkler Wolf Yamada Young Zamora Ziegler Zimmermann'
).split(' ');
const words = (
  'Alder Alpine Amber Anchor Apex Apple Arrow Aspen Aurora Autumn Azure Badger Bay Beacon Birch Blue Bluebird Bright Bridge Brook Canyon Cardinal Cascade Cedar Chestnut Cloud Clover Coastal Compass Copper Coral Cornerstone Creek Crescent Crown Crystal Cypress ' +
  'Dawn Delta Diamond Dolphin Eagle Echo Elm Ember Emerald Evergreen Falcon Fern Field Firefly Five Forest Fountain Four Fox Frontier Garnet Glacier Golden Granite Green Grove Harbor Harvest Haven Hawk Hazel Heritage Hickory Highland Hill Horizon Iron Island Ivory Ivy ' +
  'Jade Juniper Keystone Lakeside Lantern Lark Laurel Liberty Lighthouse Lily Lion Lotus Lunar Magnolia Maple Meadow Meridian Mesa Midland Mill Mint Moon Mountain Northwind Oak Oasis Ocean Olive Onyx Opal Orange Orchard Orchid Osprey Otter Palm Park Peak Pearl Pebble Pine ' +
  'Pinnacle Pioneer Plum Polaris Prairie Quail Quartz Raven Red Redwood Ridge River Robin Rock Rose Ruby Sage Sapphire Sequoia Shell Shore Sierra Silver Sky Solstice Sparrow Spring Spruce Star Stone Summit Sun Sunrise Sunset Swan Sycamore Tamarack Target Teal Terra Thistle ' +
  'Thunder Tide Timber Topaz Trail Trinity Tulip Valley Vanguard Velvet Victory Violet Vista Walnut Wave West Willow Windmill Winter Wren Yellow Zenith Zephyr'
).split(' ');
const syllables =
  'al ar ba bel bri cal cor da del den dor el en fa fen gar hal hel in ka kel kor la lan lex lin lu ma mar mer mo na nex no nor o or pel pra qui ra rel ren ri ro sal san sel si sol ta tel ten tor tra u va vel ver vi vo wen xa ya zen zo'.split(
    ' ',
  );
const trades: Readonly<Record<string, { readonly forms: readonly string[]; readonly trades: readonly string[] }>> = {
  US: {
    forms: ['LLC', 'Inc.', 'Corp.', 'Co.', 'L.L.C.', 'PLLC'],
    trades:
      'Dental;Plumbing;Roofing;Law Group;Bakery;Heating & Cooling;Auto Repair;Landscaping;Realty;Insurance Agency;Family Medicine;Physical Therapy;Veterinary Clinic;Electric;Construction;Logistics;Consulting;Software;Fitness;Catering;Mortgage;Home Health Care;Tax Services;Pest Control;Towing;Florist;Accounting;Solar;Moving;Storage'.split(
        ';',
      ),
  },
  GB: {
    forms: ['Ltd', 'Limited', 'LLP', 'PLC'],
    trades:
      'Builders;Estate Agents;Solicitors;Accountants;Joinery;Garage;Opticians;Nurseries;Scaffolding;Catering;Travel;Recruitment;Electrical;Lettings;Motors'.split(
        ';',
      ),
  },
  DE: {
    forms: ['GmbH', 'GmbH & Co. KG', 'KG', 'UG (haftungsbeschränkt)', 'e.K.', 'OHG'],
    trades:
      'Bäckerei;Autohaus;Steuerberatung;Immobilien;Haustechnik;Malerbetrieb;Zahnarztpraxis;Elektrotechnik;Gartenbau;Spedition;Reisebüro;Metallbau;Pflegedienst;Druckerei;Optik'.split(
        ';',
      ),
  },
  FR: {
    forms: ['SARL', 'SAS', 'SA', 'EURL'],
    trades:
      'Boulangerie;Plomberie;Immobilier;Transports;Menuiserie;Cabinet Dentaire;Fleurs;Traiteur;Électricité;Voyages;Conseil;Couverture'.split(
        ';',
      ),
  },
  ES: {
    forms: ['S.L.', 'S.A.', 'SLU'],
    trades:
      'Clínica Dental;Fontanería;Abogados;Talleres;Panadería;Inmobiliaria;Reformas;Transportes;Asesoría;Viajes;Óptica'.split(
        ';',
      ),
  },
  IT: {
    forms: ['S.r.l.', 'S.p.A.', 'SNC'],
    trades:
      'Panificio;Idraulica;Immobiliare;Studio Dentistico;Autofficina;Trasporti;Viaggi;Consulenza;Arredamenti;Ottica'.split(
        ';',
      ),
  },
};

/** A company that calls its customers, and the name that it wants to show. */
interface InventedCompany {
  readonly legalName: string;
  readonly displayName: string;
}

/**
 * Invented companies; the same seed gives the same ones. A tenth of them, and those whose name is too long, are shown without their
 * trade.
 */
export function inventCompanies(count: number, seed: number): readonly InventedCompany[] {
  const numbers = new RandomNumbers(seed);
  const random = () => numbers.next();
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const coined = () =>
    capitalized(Array.from({ length: 2 + Math.floor(random() * 2) }, () => pick(syllables)).join(''));
  const stem = (): string =>
    pick([
      () => pick(families),
      () => pick(families),
      () => `${pick(families)} & ${pick(families)}`,
      () => `${pick(families)} Brothers`,
      () => pick(words),
      () => `${pick(words)} ${pick(words)}`,
      () => `${pick(words)} ${pick(['Valley', 'Street', 'Point', 'County', 'Lake'])}`,
      coined,
      coined,
      () => `${pick(['First', 'All', 'Best', 'Pro', 'Your', 'City'])} ${pick(words)}`,
    ])();
  return Array.from({ length: count }, () => {
    const { forms, trades: kinds } = trades[pick(['US', 'US', 'US', 'US', 'GB', 'DE', 'DE', 'FR', 'ES', 'IT'])]!;
    const [name, trade, form] = [stem(), pick(kinds), pick(forms)];
    const legalName = `${name} ${trade} ${form}`;
    const whole = `${name} ${trade}`;
    return {
      legalName,
      displayName: random() < 0.1 || whole.length > brandLimits.displayNameCharactersMax ? name : whole,
    };
  });
}

function capitalized(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}
