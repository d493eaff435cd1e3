import { describe, expect, it } from 'vitest';
import { decideApproval, type ApprovalFacts } from '../../../pipelines/branding/decision/letter-approval.ts';
import { APPROVAL_POLICIES, type ApprovalPolicy } from '../../../pipelines/branding/decision/letter-form-rules.ts';
import { makeStrangersLetters, strangersWays, type StrangersLetter } from '../../support/strangers-letters.ts';

const policies = Object.keys(APPROVAL_POLICIES) as ApprovalPolicy[];
const letters = makeStrangersLetters(1000, 13);

/** Numbers that a stranger can prove: all but one of the letter, which is somebody else's. */
const someProven = ({ phones }: StrangersLetter) => new Set(phones.slice(1));

function outcomes(
  policy: ApprovalPolicy,
  provenPhones: (letter: StrangersLetter) => ReadonlySet<string>,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const letter of letters) {
    const { outcome } = decideApproval({ ...letter.facts, policy, provenPhones: provenPhones(letter) });
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

/** The same company, whose signer has a certificate that leads to a configured root. */
function honest({ facts }: StrangersLetter): Omit<ApprovalFacts, 'policy' | 'provenPhones'> {
  const [signature] = facts.reading.signatures;
  return {
    ...facts,
    reading: {
      ...facts.reading,
      signatures: [{ ...signature!, chain: 'trusted', signerOrganization: facts.request.profile.legalName }],
    },
  };
}

describe('1,000 letters of strangers that agree with themselves', () => {
  it('are made in every way, and most have nothing in their text that speaks against them', () => {
    expect(new Set(letters.map(({ way }) => way))).toEqual(new Set(strangersWays));
    const typed = letters.filter(({ way }) => way === 'free, typed signature');
    const clean = typed.filter(({ facts }) => facts.textFindings.every(({ severity }) => severity !== 'reject'));
    expect(clean.length / typed.length).toBeGreaterThan(0.95);
  });

  it.each(policies)('are approved by no rule under %s without a proof of their numbers', (policy) => {
    expect(outcomes(policy, () => new Set())['approved'] ?? 0).toBe(0);
  });

  it.each(policies)('nor under %s with a proof of all their numbers but one', (policy) => {
    expect(outcomes(policy, someProven)['approved'] ?? 0).toBe(0);
  });

  it.each(policies)('nor under %s with a proof of all their numbers, which proves no name', (policy) => {
    expect(outcomes(policy, ({ phones }) => new Set(phones))['approved'] ?? 0).toBe(0);
  });

  it('are approved for more numbers of a brand as it is approved, under form+numbers alone, where each is proven and the signer has signed', () => {
    const approved = (policy: ApprovalPolicy) =>
      letters
        .filter(
          ({ facts, phones }) =>
            decideApproval({
              ...facts,
              policy,
              request: { ...facts.request, isApprovedProfile: true },
              provenPhones: new Set(phones),
            }).outcome === 'approved',
        )
        .map(({ way }) => way);
    expect(approved('signature')).toEqual([]);
    expect(approved('signature+numbers')).toEqual([]);
    expect(new Set(approved('form+numbers'))).toEqual(new Set(['form, self-made certificate']));
  });

  it('in no case are approved as a free letter, whatever is proven', () => {
    const free = letters.filter(({ facts }) => facts.form === null || !facts.form.sameBytes);
    expect(free.length).toBeGreaterThan(400);
    for (const policy of policies)
      for (const letter of free)
        expect(decideApproval({ ...letter.facts, policy, provenPhones: new Set(letter.phones) }).outcome).not.toBe(
          'approved',
        );
  });
});

describe('an honest business with a trusted signature on the issued form', () => {
  const forms = letters.filter(({ way }) => way === 'form, self-made certificate');

  it('needs no person under signature, and under the others once its numbers are proven', () => {
    for (const letter of forms) {
      expect(decideApproval({ ...honest(letter), policy: 'signature', provenPhones: new Set() }).outcome).toBe(
        'approved',
      );
      for (const policy of ['signature+numbers', 'form+numbers'] as const) {
        expect(decideApproval({ ...honest(letter), policy, provenPhones: someProven(letter) }).outcome).toBe(
          'in_review',
        );
        expect(decideApproval({ ...honest(letter), policy, provenPhones: new Set(letter.phones) }).outcome).toBe(
          'approved',
        );
      }
    }
  });
});
