/** Words of the shop: its regions, names of people, its categories, and texts by people, in many scripts. */
import type { Random } from './random.ts';

/** With the share of the customers, in percent. */
export const regions = [
  { name: 'europe', share: 38, country: 'DE', cities: ['München', 'Saarbrücken'], centre: [9.5, 51] },
  { name: 'north-america', share: 27, country: 'US', cities: ['Coeur d’Alene', 'Reno'], centre: [-98, 39] },
  { name: 'asia-pacific', share: 18, country: 'JP', cities: ['札幌市', 'Itoman'], centre: [138, 36] },
  { name: 'latin-america', share: 11, country: 'BR', cities: ['São Luís', 'Belém'], centre: [-53, -11] },
  { name: 'africa', share: 6, country: 'EG', cities: ['الإسكندرية', 'Aswan'], centre: [30, 27] },
];
export const carriers = ['DHL', 'UPS', 'ヤマト運輸', 'Correios', 'Aramex'];

export const first = ['Anna', 'Łukasz', 'Zoë', 'D’Andre', 'Ελένη', '美咲', 'प्रिया', '민준', 'Lucía', 'محمد'];
export const last = ['Müller', 'Wójcik', 'O’Neill', 'De Vries', 'Παπαδόπουλος', '佐藤', 'शर्मा', '김', 'حسن'];

/** Kinds of products, each with attributes of its own. */
export const categories = [
  {
    path: ['food', 'drinks', 'coffee'],
    things: ['Espresso', 'Decaf', 'Café crème'],
    attributes: { roast: ['light', 'dark'], grams: [250, 500, 1000], organic: [true, false] },
  },
  {
    path: ['home', 'kitchen'],
    things: ['Kettle', 'Moka Pot', 'Crêpe Pan'],
    attributes: { colour: ['black', 'sand'], dishwasher_safe: [true, false], volume_ml: [350, 700] },
  },
  {
    path: ['media', 'books'],
    things: ['Atlas of Dunes', 'Cookbook', 'Naïve Sailor'],
    attributes: { pages: [96, 240, 512], language: ['en', 'ja', 'pt-BR'], binding: ['soft', 'hard'] },
  },
];

export const adjectives = ['Quiet', 'Northern', 'Brass', 'Étoile', 'Folding', 'Dune', '雪', 'Río'];
export const streets = ['Hafenstraße', 'Rue de l’Église', 'Main St', 'Avenida São João', '中央区北1条'];
export const tags = ['gift', 'repeat', 'express', 'b2b', 'newsletter', 'vip', 'fragile', 'pickup'];
export const queries = ['espresso', 'lámpara', 'コーヒー', 'gift under 50', 'usb-c "65w"', 'book\\atlas'];

const sentences = [
  'It came a day early and was packed well.',
  'Please leave it with the neighbour on the 2nd floor; the bell is broken.',
  'Für den Preis in Ordnung, die Farbe ist heller als im Bild.',
  'Second one that I buy. "Still the best", says my daughter.',
  'とても良いです。また買います。',
  'Happy birthday, Zoë! 🎂 From all of us – see you in August.',
  'I measured it: 31.5 × 22 cm, not 32 × 24 as the page says.',
];

/** Returns so many sentences. */
export function text(random: Random, count: number): string {
  return Array.from({ length: count }, () => random.pick(sentences)).join(' ');
}
