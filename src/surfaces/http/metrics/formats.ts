/** Formats of metrics that Prometheus reads, by their media types. Apart from the library that writes them: it is loaded at the first scrape. */
export const formats = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const;

export type Format = keyof typeof formats;
