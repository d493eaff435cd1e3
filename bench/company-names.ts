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

/** Legal names as ordinary businesses have them, written before the rules of names were tried on them. */
export const ordinaryNames: readonly string[] = (
  'Atlas Roofing LLC; King Plumbing Inc.; Clark Electric Co.; Best Plumbing Services LLC; Miller & Sons Contractors; Summit General Contractors Inc.; Rogers Heating and Air LLC; Chase Landscaping LLC; Norton Family Dentistry PLLC; Sunrise Bakery Inc.; ' +
  'Premier Auto Body LLC; Quality Tree Service; Advanced Dental Care PLLC; Pro Painting Company; First Choice Flooring LLC; All Seasons Lawn Care LLC; Precision Auto Repair Inc.; Superior Pool Service LLC; Reliable Garage Doors Inc.; Elite Moving and Storage LLC; ' +
  'Green Valley Veterinary Clinic; Oak Street Pediatrics PLLC; Lakeview Family Medicine; Riverside Physical Therapy Inc.; Cedar Ridge Orthodontics; Maple Grove Eye Care; Harbor Point Chiropractic LLC; Mountain View Animal Hospital; Westside Urgent Care; Bright Smiles Dental LLC; ' +
  'Johnson Law Firm PLLC; Garcia & Lopez Attorneys; Thompson Accounting Services; Nguyen Nail Salon LLC; Patel Family Pharmacy; Cohen Insurance Agency; Murphy Real Estate Group; Sullivan Mortgage Advisors; Baker Tax Services; Hill Financial Planning LLC; ' +
  'Ross Appliance Repair; Bell Window Cleaning; Wells Drilling Inc.; Gray Concrete LLC; Stone Masonry Inc.; Wood Flooring Depot; Rivers Fence Company; Fields Farm Supply; Banks Upholstery; Marshall Septic Service; ' +
  'ABC Locksmith LLC; A-1 Towing; Ace Pest Control; Allied Glass Inc.; Apex Solar LLC; Blue Sky Travel; Capital City Carpets; Central Coast Catering; Coastal Pest Solutions; Cornerstone Masonry LLC; ' +
  'Diamond Car Wash; Eagle Fence Co.; Empire Tile and Stone; Evergreen Nursery; Express Oil Change LLC; Family Hearing Center; Five Star Painting; Four Corners Hardware; Frontier Well Drilling; Gateway Printing; ' +
  'Golden Gate Gardens; Hometown Heating; Horizon Home Inspections; Independence Fitness; Integrity Insulation; Island Scuba School; Keystone Kitchens; Legacy Home Builders; Liberty Tree Care; Lone Star Septic; ' +
  'Metro Appliance; Midwest Machine Works; Modern Floors; New Leaf Counseling; North Shore Sailing; Northside Music Lessons; Pacific Pool Supply; Palmetto Plumbing; Paradise Pet Grooming; Patriot Paving; ' +
  'Peak Performance Gym; Pioneer Propane; Prestige Pools; Prime Cuts Barber Shop; Rainbow Child Care; Red Barn Feed; Rocky Mountain Rafting; Sandy Beach Rentals; Silver Lake Marina; Southern Comfort Air; ' +
  'Spring Hill Florist; Stellar Signs; Summerfield Stables; Target Archery Range; Three Rivers Realty; Top Notch Tutors; Tri-County Septic; Trinity Tutoring; Twin Oaks Kennels; Union Street Cafe; ' +
  'United Rug Cleaners; Valley Veterinary; Victory Gymnastics; Village Hardware; Vista Vision Care; Walnut Creek Dental; Wildwood Campground; Windy City Movers; Wright Brothers Roofing; Zenith Pilates; ' +
  'Hughes & Daughters Ltd; Barrett Scaffolding Ltd; Cartwright Joinery Limited; Penrose Nurseries Ltd; Ashby Estate Agents; Hartley Opticians Ltd; Dawson Solicitors LLP; Fletcher Motors Limited; Kendal Lettings Ltd; Wren & Co Accountants; ' +
  'Bristol Boiler Repairs Ltd; Kent Carpet Cleaning; Mersey Skip Hire; Thames Valley Tuition; York Street Dental Practice; Highland Holiday Cottages; Lakeland Kennels; Oxford Road Garage; Severn Plant Hire; Tyne Driving School; ' +
  'Schmidt Haustechnik GmbH; Bäckerei Huber KG; Autohaus Lang GmbH; Malerbetrieb Vogt e.K.; Zahnarztpraxis Dr. Brandt; Gärtnerei Sommer GmbH; Elektro Hoffmann GmbH; Steuerberatung Keller; Metzgerei Bauer e.K.; Tischlerei Franke GmbH; ' +
  'Hausverwaltung Nordwind GmbH; Pflegedienst Morgenrot GmbH; Fahrschule Krüger; Reisebüro Albrecht; Druckerei Winter GmbH; Optik Seidel; Spedition Arnold GmbH; Dachdecker Ludwig GmbH; Physiotherapie am Markt; Kanzlei Berger und Partner; ' +
  'Boulangerie Martin SARL; Plomberie Dupuis SARL; Cabinet Dentaire Lemaire; Garage du Centre SARL; Menuiserie Blanchard SAS; Fleurs de Provence SARL; Transports Girard SAS; Coiffure Élégance; Immobilier Fontaine SARL; Traiteur Rousseau; ' +
  'Clínica Dental Herrera S.L.; Talleres Navarro S.L.; Panadería San Miguel; Reformas Castillo S.L.; Abogados Ibáñez y Asociados; Fontanería Molina; Viajes Costa Azul S.A.; Óptica Serrano S.L.; Transportes Vega S.L.; Autoescuela Central S.L.; ' +
  'Panificio Conti S.r.l.; Idraulica Moretti S.r.l.; Studio Dentistico Galli; Autofficina Ricci; Arredamenti Fontana S.r.l.; Immobiliare Bianchi S.r.l.; Ottica Marchetti; Viaggi Ferrara S.r.l.; Trasporti Costa S.p.A.; Consulenza Greco S.r.l.; ' +
  'Kaufman Orthopedics LLC; Brightwater Landscaping; Fox Hollow Apartments; Lighthouse Preschool; Mason Brothers Asphalt; Hampton Hearing Aids; Wolf Creek Outfitters; Blossom Street Yoga; Ironwood Cabinets LLC; Turner Gutter Company'
).split('; ');
