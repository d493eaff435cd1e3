/**
 * Reads the few fields that are needed of an answer of S3, which is XML of a fixed form without attributes, comments or
 * CDATA in these fields: a parser of XML would be a dependency with many ways to be attacked, for six names.
 */
export function elementOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text === undefined ? undefined : decode(text);
}

/** The inner text of each element of a name; elements of one name do not hold one another. */
export function elementsOf(xml: string, name: string): string[] {
  return Array.from(xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs')), ([, inner = '']) => inner);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return entities[name] ?? whole;
      return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    },
  );
}
