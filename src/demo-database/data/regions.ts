/** Regions of the shop's customers: their share, their sales by month, and their names. */
import type { Random, Weighted } from './random.ts';

export interface Place {
  country: string;
  city: string;
  /** Centre of the city. */
  longitude: number;
  latitude: number;
}

export interface Region {
  name: string;
  /** Sales from January to December, relative to this region's ordinary month. */
  byMonth: readonly number[];
  places: readonly Place[];
  first: readonly string[];
  last: readonly string[];
  carriers: readonly string[];
}

/** Maximum over all regions and months; rarer ones are relative to it. */
export const MOST_BOUGHT = 1.9;

const europe: Region = {
  name: 'europe',
  byMonth: [0.8, 0.75, 0.9, 0.95, 0.95, 0.9, 0.8, 0.7, 0.95, 1.05, 1.5, 1.7],
  places: [
    place('DE', 'München', 11.58, 48.14),
    place('FR', 'Saint-Étienne', 4.39, 45.44),
    place('PL', 'Łódź', 19.46, 51.76),
    place('SE', 'Malmö', 13, 55.6),
    place('ES', 'A Coruña', -8.41, 43.36),
    place('GR', 'Θεσσαλονίκη', 22.94, 40.64),
  ],
  first: ['Anna', 'Łukasz', 'Zoë', 'Jürgen', 'François', 'Íñigo', 'Søren', 'Ελένη', 'Mats', 'Chiara'],
  last: ['Müller', 'Wójcik', 'Åkesson', 'Lefèvre', 'Núñez', 'Παπαδόπουλος', 'Rossi', 'De Vries', 'Ó Briain'],
  carriers: ['DHL', 'DPD', 'GLS'],
};

const northAmerica: Region = {
  name: 'north-america',
  byMonth: [0.75, 0.8, 0.85, 0.9, 0.95, 0.9, 1.1, 1, 0.9, 1, 1.9, 1.6],
  places: [
    place('US', 'Portland', -122.68, 45.52),
    place('US', 'Austin', -97.74, 30.27),
    place('US', 'Coeur d’Alene', -116.78, 47.68),
    place('CA', 'Trois-Rivières', -72.54, 46.35),
    place('CA', 'St. John’s', -52.71, 47.56),
  ],
  first: ['Emma', 'Liam', 'Renée', 'D’Andre', 'Mary-Jo', 'Noah', 'Aaliyah', 'José', 'Sam', 'Grace'],
  last: ['Smith', 'O’Neill', 'Garcia', 'St. Pierre', 'Nguyen', 'Johnson-Lee', 'Brown', 'Tremblay'],
  carriers: ['UPS', 'FedEx', 'Canada Post'],
};

const asiaPacific: Region = {
  name: 'asia-pacific',
  byMonth: [1.2, 1.15, 0.9, 0.9, 0.95, 1.15, 0.9, 0.9, 0.95, 1, 1.6, 1.1],
  places: [
    place('JP', '札幌市', 141.35, 43.06),
    place('AU', 'Wagga Wagga', 147.37, -35.12),
    place('IN', 'बेंगलुरु', 77.59, 12.97),
    place('KR', '부산', 129.08, 35.18),
    place('VN', 'Đà Nẵng', 108.2, 16.05),
  ],
  first: ['美咲', 'Jack', 'प्रिया', '민준', 'Hương', 'Charlotte', '大翔', 'Arjun', 'Wei', 'Ngaio'],
  last: ['佐藤', 'Williams', 'शर्मा', '김', 'Nguyễn', 'Taylor', '高橋', 'Iyer', 'Chen'],
  carriers: ['ヤマト運輸', 'Australia Post', 'Delhivery'],
};

const latinAmerica: Region = {
  name: 'latin-america',
  byMonth: [0.85, 0.8, 0.85, 0.9, 1.25, 1, 0.95, 0.9, 0.9, 1, 1.3, 1.45],
  places: [
    place('BR', 'São Luís', -44.3, -2.53),
    place('MX', 'Mérida', -89.62, 20.97),
    place('AR', 'Neuquén', -68.06, -38.95),
    place('CO', 'Ibagué', -75.23, 4.44),
  ],
  first: ['João', 'Lucía', 'Ximena', 'Inês', 'Ángel', 'Thiago', 'Sofía', 'Martín'],
  last: ['Gonçalves', 'Muñoz', 'Peña', 'dos Santos', 'Fernández', 'Quispe', 'Araújo'],
  carriers: ['Correios', 'Estafeta', 'Andreani'],
};

const africa: Region = {
  name: 'africa',
  byMonth: [0.8, 0.8, 0.95, 1.2, 1, 0.95, 0.9, 1, 0.9, 0.95, 1.2, 1.35],
  places: [
    place('NG', 'Ìbàdàn', 3.9, 7.38),
    place('EG', 'الإسكندرية', 29.92, 31.2),
    place('KE', 'Kisumu', 34.77, -0.09),
    place('ZA', 'Gqeberha', 25.6, -33.96),
  ],
  first: ['Chiamaka', 'محمد', 'Wanjikũ', 'Thabo', 'Ọlámidé', 'فاطمة', 'Zanele', 'Kwame'],
  last: ['Okonkwo', 'حسن', 'Mwangi', 'Nkosi', 'Adébáyò', 'Van der Merwe', 'Mensah'],
  carriers: ['Aramex', 'GIG Logistics'],
};

export const regions: Weighted<Region> = [
  [europe, 38],
  [northAmerica, 27],
  [asiaPacific, 18],
  [latinAmerica, 11],
  [africa, 6],
];

/** Returns a number in some countries, text in others. */
export function postalCode(random: Random, country: string): string {
  const digits = String(random.integer(10_000, 99_999));
  if (country === 'CA') return `G${digits[0]}A ${digits[1]}X${digits[2]}`;
  // US codes may begin with a zero.
  return country === 'US' && random.chance(0.2) ? `0${digits.slice(1)}` : digits;
}

function place(country: string, city: string, longitude: number, latitude: number): Place {
  return { country, city, longitude, latitude };
}
