import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import * as pkijs from 'pkijs';
import { describe, expect, it } from 'vitest';
import {
  makeCertificate,
  makeRevocationList,
  makeTimeStamp,
  signDetachedCms,
  timeStampingPurpose,
  type CertificateRequest,
  type CmsDefect,
  type OwnCertificate,
} from '../../../../../samples/letters/sample-signatures.ts';
import { cmsLimits } from '../../../../../pipelines/branding/reading/signatures/certificate-chain.ts';
import {
  verifyDetachedCms,
  verifyTimeStamp,
  type CmsVerdict,
} from '../../../../../pipelines/branding/reading/signatures/cms.ts';

const rsaKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const otherRsaKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ecKey = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;

const validity = { validFrom: new Date('2025-01-01T00:00:00Z'), validUntil: new Date('2030-01-01T00:00:00Z') };
const content = Buffer.from('I authorize the numbers below.');
const signedAt = new Date('2026-05-01T10:00:00Z');

function certify(request: Partial<CertificateRequest>): OwnCertificate {
  return makeCertificate({
    commonName: 'Leona Thornquill',
    organization: 'Brindlewick Freight LLC',
    privateKey: rsaKey,
    ...validity,
    ...request,
  });
}

const root = certify({ commonName: 'Root', ca: true, privateKey: otherRsaKey });
const middle = certify({ commonName: 'Middle', ca: true, issuer: root });
const signer = certify({ issuer: middle });

function signedBy(
  certificate: OwnCertificate,
  more: { alter?: CmsDefect; signedAt?: Date | null; pss?: boolean } = {},
): Uint8Array {
  return signDetachedCms({ content, certificate, signedAt, ...more });
}

const purposes = {
  server: '1.3.6.1.5.5.7.3.1',
  logIn: '1.3.6.1.5.5.7.3.2',
  code: '1.3.6.1.5.5.7.3.3',
  mail: '1.3.6.1.5.5.7.3.4',
  ocsp: '1.3.6.1.5.5.7.3.9',
  any: '2.5.29.37.0',
} as const;
const extension = (extnID: string, extnValue: ArrayBuffer) =>
  new pkijs.Extension({ extnID, critical: false, extnValue });
const nameConstraints = extension(
  '2.5.29.30',
  new pkijs.NameConstraints({
    permittedSubtrees: [new pkijs.GeneralSubtree({ base: new pkijs.GeneralName({ type: 2, value: 'other.example' }) })],
  })
    .toSchema()
    .toBER(),
);

/** The certificate with other fields, signed again by its issuer. */
function changed(certificate: OwnCertificate, change: (fields: pkijs.Certificate) => void): OwnCertificate {
  const fields = pkijs.Certificate.fromBER(new Uint8Array(certificate.der));
  change(fields);
  fields.tbs = fields.encodeTBS().toBER();
  fields.signatureValue = new asn1js.BitString({
    valueHex: new Uint8Array(sign('sha256', new Uint8Array(fields.tbs), (certificate.issuer ?? certificate).privateKey))
      .buffer,
  });
  const der = new Uint8Array(fields.toSchema(true).toBER());
  return { ...certificate, der, fields: pkijs.Certificate.fromBER(der) };
}

const withPathLength = (pathLenConstraint: number) => (fields: pkijs.Certificate) => {
  fields.extensions = fields.extensions!.map((each) =>
    each.extnID === '2.5.29.19'
      ? extension(each.extnID, new pkijs.BasicConstraints({ cA: true, pathLenConstraint }).toSchema().toBER())
      : each,
  );
};

const verified: Partial<CmsVerdict> = { digestMatches: true, signatureValid: true };

describe('a detached CMS signature', () => {
  it.each<[string, KeyObject, boolean]>([
    ['RSA with PKCS #1 v1.5', rsaKey, false],
    ['RSASSA-PSS', rsaKey, true],
    ['ECDSA on P-256', ecKey('P-256'), false],
    ['ECDSA on P-384', ecKey('P-384'), false],
  ])('verifies with %s, and names its signer and time', async (_, privateKey, pss) => {
    const cms = signedBy(certify({ issuer: root, privateKey }), { pss });
    expect(await verifyDetachedCms({ cms, content, trustRootsPem: root.pem })).toEqual({
      digestMatches: true,
      signatureValid: true,
      signerName: 'Leona Thornquill',
      signerOrganization: 'Brindlewick Freight LLC',
      signerCountry: null,
      signerOrganizationId: null,
      signedAt: '2026-05-01T10:00:00.000Z',
      timeStamp: null,
      chain: 'trusted',
      revocation: 'unknown',
      problem: null,
    });
  });

  it('names the country and the number of its company', async () => {
    const company = { country: 'DE', organizationId: 'VATDE-129273398' };
    expect(await verifyDetachedCms({ cms: signedBy(certify(company)), content })).toMatchObject({
      signerCountry: 'DE',
      signerOrganizationId: 'VATDE-129273398',
    });
  });

  it('may be followed by zero bytes, and by nothing else', async () => {
    const cms = signedBy(signer);
    expect(await verifyDetachedCms({ cms: Buffer.concat([cms, Buffer.alloc(5000)]), content })).toMatchObject({
      ...verified,
      problem: null,
    });
    expect(
      await verifyDetachedCms({ cms: Buffer.concat([cms, Buffer.alloc(5000), Buffer.of(1)]), content }),
    ).toMatchObject({ digestMatches: false, problem: 'Something follows the signature.' });
  });

  it('does not verify for other content', async () => {
    const verdict = await verifyDetachedCms({
      cms: signedBy(signer),
      content: Buffer.from('I authorize the numbers below!'),
      trustRootsPem: root.pem,
    });
    expect(verdict).toMatchObject({
      digestMatches: false,
      signatureValid: true,
      chain: 'untrusted',
      problem: 'The document is not the one that was signed.',
    });
  });

  it.each<[CmsDefect, Partial<CmsVerdict>]>([
    ['digest', { digestMatches: false, signatureValid: true, problem: 'The document is not the one that was signed.' }],
    [
      'signature',
      { digestMatches: true, signatureValid: false, problem: "The signature does not fit the certificate's key." },
    ],
    [
      'content_type',
      { digestMatches: false, signatureValid: false, problem: 'The signed attributes name another type of content.' },
    ],
    [
      'no_attributes',
      { digestMatches: false, signatureValid: false, problem: 'The signature has no signed attributes.' },
    ],
    [
      'sha1',
      {
        digestMatches: false,
        signatureValid: false,
        signerName: 'Leona Thornquill',
        problem: 'The signature uses SHA-1, which can be forged.',
      },
    ],
    [
      'attached',
      {
        digestMatches: false,
        signatureValid: false,
        problem: 'The signature is not detached: it brings content of its own.',
      },
    ],
  ])('with the defect %s does not verify', async (alter, expected) => {
    expect(await verifyDetachedCms({ cms: signedBy(signer, { alter }), content })).toMatchObject(expected);
  });

  it.each<[string, KeyObject]>([
    ['The certificate has an RSA key of 1024 bits.', generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey],
    ['The certificate has a key of an unknown kind.', ecKey('P-521')],
  ])('with a weak or unknown key does not verify: %s', async (problem, privateKey) => {
    expect(await verifyDetachedCms({ cms: signedBy(certify({ issuer: root, privateKey })), content })).toMatchObject({
      signatureValid: false,
      problem,
    });
  });

  it('is made of the same bytes each time', () => {
    expect(signedBy(certify({ issuer: middle }))).toEqual(signedBy(certify({ issuer: middle })));
  });
});

describe('the chain of a signature', () => {
  it('is unchecked without roots', async () => {
    expect(await verifyDetachedCms({ cms: signedBy(signer), content, trustRootsPem: ' \n' })).toMatchObject({
      ...verified,
      chain: 'unchecked',
      problem: null,
    });
  });

  it('leads over an authority in between to the one of several roots that it belongs to', async () => {
    const stranger = certify({ commonName: 'Stranger', ca: true });
    expect(
      await verifyDetachedCms({
        cms: signedBy(signer),
        content,
        trustRootsPem: `${stranger.pem}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${root.pem}`,
      }),
    ).toMatchObject({ chain: 'trusted' });
    expect(await verifyDetachedCms({ cms: signedBy(signer), content, trustRootsPem: stranger.pem })).toMatchObject({
      ...verified,
      chain: 'untrusted',
      problem: 'The certificates lead to the root "Root", which is not among the trusted roots.',
    });
  });

  it('is missing where the file leaves the authority in between out, and says which', async () => {
    const alone = signedBy({ ...signer, issuer: null });
    expect(await verifyDetachedCms({ cms: alone, content, trustRootsPem: root.pem })).toMatchObject({
      ...verified,
      chain: 'untrusted',
      problem: 'The certificate of its issuer, "Middle", is neither in the file nor among the trusted roots.',
    });
  });

  it('says that a certificate has expired, and since when', async () => {
    const expired = certify({ issuer: root, validUntil: new Date('2026-06-01T00:00:00Z') });
    const read = (at: Date, now: Date) =>
      verifyDetachedCms({ cms: signedBy(expired, { signedAt: at }), content, trustRootsPem: root.pem, now });
    expect(await read(signedAt, new Date('2026-07-01T00:00:00Z'))).toMatchObject({
      ...verified,
      signerName: 'Leona Thornquill',
      problem:
        'The certificate expired on 2026-06-01. Without a trusted time stamp it must be valid when it is read, too.',
    });
    const late = new Date('2026-07-01T00:00:00Z');
    expect(await read(late, late)).toMatchObject({
      problem: 'The certificate had expired on 2026-06-01, before it signed.',
    });
  });

  it('is not trusted for a root of the same name with another key', async () => {
    const impostor = certify({ commonName: 'Root', ca: true, privateKey: rsaKey });
    expect(await verifyDetachedCms({ cms: signedBy(signer), content, trustRootsPem: impostor.pem })).toMatchObject({
      chain: 'untrusted',
    });
  });

  it('needs issuers that are authorities', async () => {
    const person = certify({ commonName: 'No Authority', issuer: root });
    expect(
      await verifyDetachedCms({ cms: signedBy(certify({ issuer: person })), content, trustRootsPem: root.pem }),
    ).toMatchObject({ ...verified, chain: 'untrusted' });
  });

  it.each<[string, OwnCertificate]>([
    [
      'an authority for servers',
      certify({ issuer: certify({ commonName: 'Servers', ca: true, issuer: root, purpose: purposes.server }) }),
    ],
    [
      'an authority for time stamps',
      certify({ issuer: certify({ commonName: 'Stamps', ca: true, issuer: root, purpose: timeStampingPurpose }) }),
    ],
    [
      'an authority that is bound to some names',
      certify({
        issuer: changed(certify({ commonName: 'Bound', ca: true, issuer: root }), ({ extensions }) =>
          extensions!.push(nameConstraints),
        ),
      }),
    ],
    [
      'an authority that may have none below it, through a second one of its name',
      certify({
        issuer: certify({
          commonName: 'Last',
          ca: true,
          privateKey: otherRsaKey,
          issuer: changed(certify({ commonName: 'Last', ca: true, issuer: root }), withPathLength(0)),
        }),
      }),
    ],
    [
      'an authority of a short key',
      certify({
        issuer: certify({
          commonName: 'Short',
          ca: true,
          issuer: root,
          privateKey: generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey,
        }),
      }),
    ],
    [
      'an authority that has expired',
      certify({
        issuer: certify({ commonName: 'Old', ca: true, issuer: root, validUntil: new Date('2026-01-01T00:00:00Z') }),
      }),
    ],
  ])('does not lead over %s', async (_, certificate) => {
    expect(await verifyDetachedCms({ cms: signedBy(certificate), content, trustRootsPem: root.pem })).toMatchObject({
      ...verified,
      chain: 'untrusted',
    });
  });

  it.each<[string, readonly string[]]>([
    ['code', [purposes.code]],
    ['answers about revocation, and any', [purposes.ocsp, purposes.any]],
    ['time stamps, and any', [timeStampingPurpose, purposes.any]],
    ['servers and log-in', [purposes.server, purposes.logIn]],
  ])('is not trusted for a signer whose key is made for %s', async (_, keyPurposes) => {
    const purposed = changed(certify({ issuer: root }), ({ extensions }) =>
      extensions!.push(
        extension('2.5.29.37', new pkijs.ExtKeyUsage({ keyPurposes: [...keyPurposes] }).toSchema().toBER()),
      ),
    );
    expect(await verifyDetachedCms({ cms: signedBy(purposed), content, trustRootsPem: root.pem })).toMatchObject({
      ...verified,
      chain: 'untrusted',
      problem: 'The certificate is not made for signing documents.',
    });
  });

  it('is not trusted where the signer is an authority, or an extension comes twice', async () => {
    const twice = changed(certify({ issuer: root, purpose: purposes.mail }), ({ extensions }) =>
      extensions!.push(
        extension('2.5.29.37', new pkijs.ExtKeyUsage({ keyPurposes: [purposes.code] }).toSchema().toBER()),
      ),
    );
    for (const certificate of [certify({ issuer: root, ca: true }), twice])
      expect(await verifyDetachedCms({ cms: signedBy(certificate), content, trustRootsPem: root.pem })).toMatchObject({
        chain: 'untrusted',
      });
  });

  it('of a certificate with two organizations names none', async () => {
    const second = new pkijs.AttributeTypeAndValue({
      type: '2.5.4.10',
      value: new asn1js.Utf8String({ value: 'Another LLC' }),
    });
    const both = changed(certify({ issuer: root }), (fields) => {
      fields.subject = new pkijs.RelativeDistinguishedNames({
        typesAndValues: [...fields.subject.typesAndValues, second],
      });
    });
    expect(await verifyDetachedCms({ cms: signedBy(both), content, trustRootsPem: root.pem })).toMatchObject({
      chain: 'trusted',
      signerName: 'Leona Thornquill',
      signerOrganization: null,
    });
  });

  it('of a certificate without a common name names the given name and the surname', async () => {
    const named = changed(certify({ issuer: root }), (fields) => {
      const typed = (type: string, value: string) =>
        new pkijs.AttributeTypeAndValue({ type, value: new asn1js.Utf8String({ value }) });
      fields.subject = new pkijs.RelativeDistinguishedNames({
        typesAndValues: [typed('2.5.4.4', 'Thornquill'), typed('2.5.4.42', 'Leona'), typed('2.5.4.10', 'Example LLC')],
      });
    });
    expect(await verifyDetachedCms({ cms: signedBy(named), content, trustRootsPem: root.pem })).toMatchObject({
      chain: 'trusted',
      signerName: 'Leona Thornquill',
      signerOrganization: 'Example LLC',
    });
  });

  it.each<[string, Date, CmsVerdict['chain']]>([
    ['the first second', validity.validFrom, 'trusted'],
    ['the last second', validity.validUntil, 'trusted'],
    ['a second before', new Date(validity.validFrom.getTime() - 1000), 'untrusted'],
    ['a second after', new Date(validity.validUntil.getTime() + 1000), 'untrusted'],
  ])('holds for a signature in %s of its validity: %s is %s', async (_, at, chain) => {
    expect(
      await verifyDetachedCms({ cms: signedBy(signer, { signedAt: at }), content, trustRootsPem: root.pem }),
    ).toMatchObject({ ...verified, chain });
  });

  it('takes the time that is claimed with a signature without one, and now without that', async () => {
    const cms = signedBy(signer, { signedAt: null });
    const at = (claimedAt: Date) => verifyDetachedCms({ cms, content, trustRootsPem: root.pem, claimedAt });
    expect(await at(signedAt)).toMatchObject({ signedAt: null, chain: 'trusted' });
    expect(await at(new Date('2031-01-01T00:00:00Z'))).toMatchObject({ chain: 'untrusted' });
    const expired = certify({
      issuer: root,
      validFrom: new Date('2020-01-01T00:00:00Z'),
      validUntil: new Date('2020-02-01T00:00:00Z'),
    });
    expect(
      await verifyDetachedCms({ cms: signedBy(expired, { signedAt: null }), content, trustRootsPem: root.pem }),
    ).toMatchObject({ ...verified, chain: 'untrusted' });
  });

  it('may have as many certificates as the limit and not one more', async () => {
    const chainOf = (authorities: number) =>
      Array.from({ length: authorities }).reduce<OwnCertificate>(
        (issuer, _, index) => certify({ commonName: `Authority ${index}`, ca: true, issuer }),
        root,
      );
    const longest = certify({ issuer: chainOf(cmsLimits.chainLengthMax - 2) });
    const tooLong = certify({ issuer: chainOf(cmsLimits.chainLengthMax - 1) });
    expect(await verifyDetachedCms({ cms: signedBy(longest), content, trustRootsPem: root.pem })).toMatchObject({
      chain: 'trusted',
    });
    expect(await verifyDetachedCms({ cms: signedBy(tooLong), content, trustRootsPem: root.pem })).toMatchObject({
      ...verified,
      chain: 'untrusted',
    });
  });
});

describe('a time stamp', () => {
  const authority = certify({
    commonName: 'Example TSA',
    organization: 'Example Trust Services',
    issuer: root,
    purpose: timeStampingPurpose,
  });
  const time = new Date('2026-05-01T10:00:05Z');
  const stampedBy = (certificate: OwnCertificate, at = time) =>
    signDetachedCms({ content, certificate: signer, signedAt, stamp: { certificate, time: at } });

  it('in a signature is verified, and says whose time it is', async () => {
    expect(await verifyDetachedCms({ cms: stampedBy(authority), content, trustRootsPem: root.pem })).toMatchObject({
      ...verified,
      chain: 'trusted',
      problem: null,
      timeStamp: { time: time.toISOString(), authority: 'Example TSA', chain: 'trusted' },
    });
    expect(await verifyDetachedCms({ cms: stampedBy(authority), content })).toMatchObject({
      timeStamp: { chain: 'unchecked' },
      chain: 'unchecked',
    });
  });

  it.each<[string, OwnCertificate]>([
    ['is not made for time stamps', signer],
    ['is made for another purpose', certify({ issuer: root, purpose: '1.3.6.1.5.5.7.3.1' })],
    ['leads to no root', certify({ purpose: timeStampingPurpose })],
    [
      'is no longer valid at its time',
      certify({ issuer: root, purpose: timeStampingPurpose, validUntil: new Date('2026-01-01T00:00:00Z') }),
    ],
  ])('of an authority whose certificate %s is not trusted', async (_, certificate) => {
    expect(await verifyDetachedCms({ cms: stampedBy(certificate), content, trustRootsPem: root.pem })).toMatchObject({
      ...verified,
      chain: 'trusted',
      timeStamp: { chain: 'untrusted' },
    });
  });

  it('over other bytes is none', async () => {
    const token = makeTimeStamp({ data: content, certificate: authority, time });
    expect(await verifyTimeStamp({ token, data: content, trustRootsPem: root.pem })).toMatchObject({
      chain: 'trusted',
    });
    expect(await verifyTimeStamp({ token, data: Buffer.from('other') })).toBeNull();
    expect(await verifyTimeStamp({ token: signedBy(signer), data: content })).toBeNull();
    const broken = Buffer.from(token);
    broken[broken.length - 1]! ^= 1;
    expect(await verifyTimeStamp({ token: broken, data: content })).toBeNull();
  });

  const shortLived = certify({
    issuer: root,
    validFrom: new Date('2026-01-01T00:00:00Z'),
    validUntil: new Date('2026-06-01T00:00:00Z'),
  });
  const now = new Date('2026-07-01T00:00:00Z');
  const stamp = (certificate: OwnCertificate, at = time) => ({
    cms: signDetachedCms({ content, certificate: shortLived, signedAt, stamp: { certificate, time: at } }),
    content,
    trustRootsPem: root.pem,
    now,
  });

  it('proves that a certificate which has expired since was valid; a time that the signer states does not', async () => {
    expect(await verifyDetachedCms(stamp(authority))).toMatchObject({ chain: 'trusted' });
    expect(await verifyDetachedCms(stamp(certify({ purpose: timeStampingPurpose })))).toMatchObject({
      chain: 'untrusted',
      problem:
        'The certificate expired on 2026-06-01. Without a trusted time stamp it must be valid when it is read, too.',
    });
    expect(await verifyDetachedCms(stamp(authority, new Date('2026-06-02T00:00:00Z')))).toMatchObject({
      chain: 'untrusted',
    });
    expect(await verifyDetachedCms({ cms: signedBy(shortLived), content, trustRootsPem: root.pem, now })).toMatchObject(
      { ...verified, chain: 'untrusted' },
    );
    const documentTimeStamps = [{ time: time.toISOString(), authority: 'Example TSA', chain: 'trusted' as const }];
    expect(
      await verifyDetachedCms({ cms: signedBy(shortLived), content, trustRootsPem: root.pem, now, documentTimeStamps }),
    ).toMatchObject({ chain: 'trusted', timeStamp: documentTimeStamps[0] });
  });
});

describe('a list of revoked certificates that the letter brings along', () => {
  const direct = certify({ issuer: root });
  const judge = (issuer: OwnCertificate, at: string, certificate = direct) => {
    const list = makeRevocationList({
      issuer,
      revoked: [{ certificate, at: new Date(at) }],
      madeAt: new Date('2026-06-01T00:00:00Z'),
    });
    return verifyDetachedCms({
      cms: signedBy(direct),
      content,
      trustRootsPem: root.pem,
      now: signedAt,
      validationData: { certificates: [], crls: [list, Buffer.from('damaged')], ocsps: [Buffer.from('damaged')] },
    });
  };

  it('takes the trust of a certificate that was revoked before it signed, not of one revoked later', async () => {
    expect(await judge(root, '2026-04-30T00:00:00Z')).toMatchObject({
      ...verified,
      chain: 'untrusted',
      problem: 'A certificate of the signature was revoked before it was signed.',
    });
    expect(await judge(root, '2026-05-02T00:00:00Z')).toMatchObject({ chain: 'trusted' });
  });

  it('counts when its own issuer signed it, and for its certificates only', async () => {
    expect(await judge(certify({ commonName: 'Root', ca: true }), '2026-04-30T00:00:00Z')).toMatchObject({
      chain: 'trusted',
    });
    expect(await judge(root, '2026-04-30T00:00:00Z', certify({ commonName: 'Another', issuer: root }))).toMatchObject({
      chain: 'trusted',
    });
  });
});

describe('the state of revocation', () => {
  const [direct, other] = [certify({ issuer: root }), certify({ commonName: 'Another', issuer: root })];
  const month = { madeAt: new Date('2026-04-15T00:00:00Z'), nextAt: new Date('2026-05-15T00:00:00Z') };
  const listOf = (
    issuer: OwnCertificate,
    revoked: readonly OwnCertificate[] = [],
    times: Partial<typeof month> = month,
  ) =>
    makeRevocationList({
      issuer,
      revoked: revoked.map((certificate) => ({ certificate, at: new Date('2026-04-20T00:00:00Z') })),
      ...month,
      ...times,
    });
  const stateBy = async (crls: readonly Uint8Array[], certificate = direct, now = signedAt) =>
    (
      await verifyDetachedCms({
        cms: signedBy(certificate),
        content,
        trustRootsPem: root.pem,
        now,
        validationData: { certificates: [], crls, ocsps: [] },
      })
    ).revocation;

  it('is good by a current list of the authority that does not name the certificate', async () => {
    expect(await stateBy([listOf(root)])).toBe('good');
    expect(await stateBy([listOf(root, [other])])).toBe('good');
    expect(await stateBy([listOf(root, [direct])])).toBe('revoked');
    expect(await stateBy([listOf(root), listOf(root, [direct])])).toBe('revoked');
  });

  it('is unknown without a list, by one that is out of date, and by one of another authority', async () => {
    expect(await stateBy([])).toBe('unknown');
    expect(await stateBy([listOf(root)], direct, new Date('2026-05-16T00:00:00Z'))).toBe('unknown');
    expect(await stateBy([listOf(middle)])).toBe('unknown');
    expect(await stateBy([listOf(certify({ commonName: 'Root', ca: true }))])).toBe('unknown');
    expect(
      await stateBy([Buffer.from('damaged'), Buffer.of(0x30, 0x84, 0xff, 0xff, 0xff, 0xff), Buffer.of(0x30, 0x80)]),
    ).toBe('unknown');
  });

  it('is asked for every certificate below the root', async () => {
    expect(await stateBy([listOf(root)], signer)).toBe('unknown');
    expect(await stateBy([listOf(root), listOf(middle)], signer)).toBe('good');
    expect(await stateBy([listOf(root, [middle]), listOf(middle)], signer)).toBe('revoked');
  });

  it('is found in a long list, which is searched in place', async () => {
    const many = Array.from({ length: 5000 }, (_, at) => ({
      certificate: { fields: { serialNumber: new asn1js.Integer({ value: at + 1 }) } } as OwnCertificate,
      at: month.madeAt,
    }));
    const list = makeRevocationList({
      issuer: root,
      revoked: [...many, { certificate: direct, at: month.madeAt }],
      ...month,
    });
    const start = performance.now();
    expect(await stateBy([list])).toBe('revoked');
    expect(await stateBy([list], other)).toBe('good');
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe('an answer about revocation that the letter brings along', () => {
  const direct = certify({ issuer: root });
  const ocsp = '1.3.6.1.5.5.7.3.9';

  async function answer(signedBy: OwnCertificate, at: string, good?: { nextUpdate: Date }): Promise<Uint8Array> {
    const certID = new pkijs.CertID();
    await certID.createForCertificate(direct.fields, { hashAlgorithm: 'SHA-1', issuerCertificate: root.fields });
    const certStatus =
      good === undefined
        ? new asn1js.Constructed({
            idBlock: { tagClass: 3, tagNumber: 1 },
            value: [new asn1js.GeneralizedTime({ valueDate: new Date(at) })],
          })
        : new asn1js.Primitive({ idBlock: { tagClass: 3, tagNumber: 0 } });
    const basic = new pkijs.BasicOCSPResponse({ certs: [signedBy.fields] });
    basic.tbsResponseData = new pkijs.ResponseData({
      responderID: signedBy.fields.subject,
      producedAt: new Date(at),
      responses: [new pkijs.SingleResponse({ certID, certStatus, thisUpdate: new Date(at), ...good })],
    });
    const key = await crypto.subtle.importKey(
      'pkcs8',
      signedBy.privateKey.export({ format: 'der', type: 'pkcs8' }),
      { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
      false,
      ['sign'],
    );
    await basic.sign(key, 'SHA-256');
    const response = new asn1js.OctetString({ valueHex: basic.toSchema().toBER() });
    return new Uint8Array(
      new pkijs.OCSPResponse({
        responseStatus: new asn1js.Enumerated({ value: 0 }),
        responseBytes: new pkijs.ResponseBytes({ responseType: '1.3.6.1.5.5.7.48.1.1', response }),
      })
        .toSchema()
        .toBER(),
    );
  }

  it.each<[string, OwnCertificate, string, CmsVerdict['chain']]>([
    ['of the issuer, for a time before the signature', root, '2026-04-30T00:00:00Z', 'untrusted'],
    ['of the issuer, for a time after the signature', root, '2026-05-02T00:00:00Z', 'trusted'],
    [
      'of one whom the issuer certified for that',
      certify({ commonName: 'Responder', issuer: root, purpose: ocsp }),
      '2026-04-30T00:00:00Z',
      'untrusted',
    ],
    [
      'of one whom the issuer certified for something else',
      certify({ commonName: 'Responder', issuer: root }),
      '2026-04-30T00:00:00Z',
      'trusted',
    ],
    ['of a stranger', certify({ commonName: 'Responder', purpose: ocsp }), '2026-04-30T00:00:00Z', 'trusted'],
  ])('%s leaves the chain as it must', async (_, signedByWhom, at, chain) => {
    const validationData = { certificates: [], crls: [], ocsps: [await answer(signedByWhom, at)] };
    expect(
      await verifyDetachedCms({
        cms: signedBy(direct),
        content,
        trustRootsPem: root.pem,
        now: signedAt,
        validationData,
      }),
    ).toMatchObject({ ...verified, chain });
  });

  it('vouches for the certificate until its next update, if it is of the issuer', async () => {
    const stateBy = async (signedByWhom: OwnCertificate, nextUpdate: string) => {
      const ocsps = [await answer(signedByWhom, '2026-04-30T00:00:00Z', { nextUpdate: new Date(nextUpdate) })];
      const validationData = { certificates: [], crls: [], ocsps };
      const signed = { cms: signedBy(direct), content, trustRootsPem: root.pem };
      return (await verifyDetachedCms({ ...signed, now: signedAt, validationData })).revocation;
    };
    expect(await stateBy(root, '2026-05-02T00:00:00Z')).toBe('good');
    expect(await stateBy(root, '2026-04-30T12:00:00Z')).toBe('unknown');
    expect(await stateBy(certify({ commonName: 'Responder', purpose: ocsp }), '2026-05-02T00:00:00Z')).toBe('unknown');
  });
});

describe('hostile DER', () => {
  const cms = Buffer.from(signedBy(signer));
  const millisecondsMax = 2000;

  it.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['zeros', new Uint8Array(4096)],
    ['a hundred thousand nested sequences of no stated length', Buffer.alloc(200_000, Buffer.of(0x30, 0x80))],
    [
      'nested sequences of stated lengths',
      Buffer.concat(Array.from({ length: 5000 }, () => Buffer.of(0x30, 0x84, 0x00, 0x01, 0x00, 0x00))),
    ],
    ['a length of 4 GB', Buffer.of(0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x02, 0x01, 0x01)],
    ['a length of 126 bytes', Buffer.concat([Buffer.of(0x30, 0xfe), Buffer.alloc(126, 0xff)])],
    [
      'a million empty elements',
      Buffer.concat([Buffer.of(0x30, 0x83, 0x0f, 0x42, 0x40), Buffer.alloc(1_000_000, Buffer.of(0x05, 0x00))]),
    ],
    ['other DER', Buffer.from(root.der)],
  ])('ends in a problem: %s', async (_, bytes) => {
    const start = performance.now();
    expect(await verifyDetachedCms({ cms: bytes, content, trustRootsPem: root.pem })).toMatchObject({
      digestMatches: false,
      signatureValid: false,
      problem: expect.stringMatching(/\w+\.$/),
    });
    expect(performance.now() - start).toBeLessThan(millisecondsMax);
  });

  it('of the largest size is read, and of one byte more is not', async () => {
    const padded = (bytes: number) => Buffer.concat([cms, Buffer.alloc(bytes - cms.length)]);
    expect(await verifyDetachedCms({ cms: padded(cmsLimits.cmsBytesMax), content })).toMatchObject({
      ...verified,
      problem: null,
    });
    expect(await verifyDetachedCms({ cms: padded(cmsLimits.cmsBytesMax + 1), content })).toMatchObject({
      digestMatches: false,
      problem: 'The signature is larger than the limit.',
    });
  });

  it('that is cut off anywhere ends in a problem', async () => {
    for (let length = 0; length < cms.length; length += 37) {
      expect(await verifyDetachedCms({ cms: cms.subarray(0, length), content })).toMatchObject({
        digestMatches: false,
        problem: expect.any(String),
      });
    }
  });

  it('with changed bytes never throws, and never has other signed content', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: cms.length - 1 }), fc.integer({ min: 1, max: 255 })), {
          minLength: 1,
          maxLength: 4,
        }),
        async (changes) => {
          const changed = Buffer.from(cms);
          for (const [place, mask] of changes) changed[place]! ^= mask;
          const verdict = await verifyDetachedCms({
            cms: changed,
            content: Buffer.from('other content'),
            trustRootsPem: root.pem,
          });
          expect(verdict.digestMatches && verdict.signatureValid).toBe(false);
          expect(verdict.chain).toBe('untrusted');
        },
      ),
      { numRuns: 300 },
    );
  });
});
