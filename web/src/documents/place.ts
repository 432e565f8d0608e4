/** A collection in its database. */
export interface Place {
  database: string;
  collection: string;
}
