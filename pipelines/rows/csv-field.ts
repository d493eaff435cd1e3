/** A field of CSV, quoted where RFC 4180 requires it; empty for null and undefined. */
export function formatCsvField(value: string | number | boolean | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
