import type { RivalClaim } from '../../pipelines/branding/brand/number-claims.ts';
import type { PdfSignature } from '../../pipelines/branding/letter-reading.ts';
import { makeExcerpt } from '../../pipelines/phone/text-cleaning.ts';
import { formatFacts, formatParagraphs, formatTable } from '../table.ts';

const chains = {
  trusted: 'leads to a trusted root',
  untrusted: 'is not trusted',
  unchecked: 'is not checked: no trusted roots are configured',
} as const;
const coverages = {
  whole: 'the whole file',
  extended: 'the letter; validation data, time stamps or signatures were added later',
  changed: 'an earlier version: the letter was changed later',
  partial: 'a part of the file',
} as const;

/** Whose certificate each PDF signature of a letter has, and what is wrong with it. */
export function formatSignatures(signatures: readonly PdfSignature[]): string {
  const shown = (value: string | null) => (value === null ? null : makeExcerpt(value)); // removes control characters
  return formatParagraphs(
    ...signatures.map((signature) => {
      const { signerName, signerOrganization, signedAt, timeStamp } = signature;
      return formatFacts([
        ['PDF signature', shown(signature.field)],
        ['certificate of', shown(signerName) ?? 'nobody it names'],
        ['organization', shown(signerOrganization)],
        ['signed at', signedAt],
        [
          'time',
          timeStamp === null ? 'claimed by the signer' : `stamped by ${shown(timeStamp.authority) ?? 'an authority'}`,
        ],
        ['signed bytes', signature.digestMatches && signature.signatureValid ? 'unchanged' : 'changed or not valid'],
        ['covers', coverages[signature.coverage]],
        ['certificate', chains[signature.chain]],
        ['problem', shown(signature.problem)],
      ]);
    }),
  );
}

/** Other brands that claim numbers of the letter's brand. */
export function formatRivals(rivals: readonly RivalClaim[]): string {
  if (rivals.length === 0) return '';
  return `Other brands claim numbers of this one:\n${formatTable(rivals, [
    { title: 'brand', value: ({ handle }) => handle },
    { title: 'owner', value: ({ owner }) => owner },
    { title: 'state', value: ({ state }) => state },
    { title: 'numbers', value: ({ numbers }) => numbers },
    { title: 'of them live', value: ({ live }) => live },
  ])}`;
}
