/** Words for product names, and for texts by people. */
import type { Random } from './random.ts';

export interface Category {
  name: string;
  path: readonly string[];
  /** Price of an ordinary product, in cents. */
  price: number;
  things: readonly string[];
  attributes: Readonly<Record<string, readonly (string | number | boolean)[]>>;
}

export const categories: readonly Category[] = [
  {
    name: 'coffee',
    path: ['food', 'drinks', 'coffee'],
    price: 1_490,
    things: ['Espresso', 'Filter Roast', 'Decaf', 'Cold Brew', 'Café crème'],
    attributes: { roast: ['light', 'medium', 'dark'], grams: [250, 500, 1000], organic: [true, false] },
  },
  {
    name: 'kitchen',
    path: ['home', 'kitchen'],
    price: 3_900,
    things: ['Kettle', 'Grinder', 'Moka Pot', 'Scale', 'Crêpe Pan', 'Cup'],
    attributes: {
      colour: ['black', 'sand', 'oxide red'],
      dishwasher_safe: [true, false],
      volume_ml: [350, 700],
    },
  },
  {
    name: 'outdoor',
    path: ['sport', 'outdoor'],
    price: 8_900,
    things: ['Tent', 'Headlamp', 'Stove', 'Rucksack', 'Sleeping Bag'],
    attributes: { weight_g: [90, 480, 1250, 2100], season: ['summer', '3-season', 'winter'] },
  },
  {
    name: 'books',
    path: ['media', 'books'],
    price: 2_200,
    things: ['Atlas of Dunes', 'Field Guide', 'Cookbook', 'Notebook', 'Naïve Sailor'],
    attributes: { pages: [96, 240, 512], language: ['en', 'de', 'ja', 'pt-BR'], binding: ['soft', 'hard'] },
  },
  {
    name: 'electronics',
    path: ['home', 'electronics'],
    price: 12_900,
    things: ['Speaker', 'Radio', 'Lamp', 'Power Bank', 'Keyboard', 'E-Reader'],
    attributes: { watts: [5, 18, 65], bluetooth: [true, false], plug: ['C', 'F', 'G', 'A'] },
  },
];

export const adjectives = [
  'Quiet',
  'Northern',
  'Little',
  'Brass',
  'Étoile',
  'Folding',
  'Dune',
  'Grand',
  '雪',
  'Río',
];
export const streets = [
  'Hafenstraße',
  'Rue de l’Église',
  'Main St',
  'Avenida São João',
  '中央区北1条',
  'Market Rd',
];
export const tags = ['gift', 'repeat', 'express', 'b2b', 'newsletter', 'vip', 'fragile', 'pickup'];
export const queries = [
  'espresso',
  'tent 2p',
  'lámpara',
  'コーヒー',
  'gift under 50',
  'usb-c "65w"',
  'book\\atlas',
];

const sentences = [
  'It came a day early and was packed well.',
  'The lid does not close, but support answered at once.',
  'Please leave it with the neighbour on the 2nd floor; the bell is broken.',
  'Für den Preis in Ordnung, die Farbe ist heller als im Bild.',
  'Second one that I buy. "Still the best", says my daughter.',
  'とても良いです。また買います。',
  'Não gostei do cheiro no começo, depois passou.',
  'Works with 230 V; I had asked for 110 V…',
  'Happy birthday, Zoë! 🎂 From all of us – see you in August.',
  'I measured it: 31.5 × 22 cm, not 32 × 24 as the page says.',
];

/** Returns so many sentences. */
export function text(random: Random, count: number): string {
  return Array.from({ length: count }, () => random.pick(sentences)).join(' ');
}
