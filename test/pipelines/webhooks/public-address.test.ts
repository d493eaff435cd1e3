import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressRules } from '../../../pipelines/webhooks/public-address.ts';

const byDefault = addressRules(undefined);

it.each([
  '127.0.0.1',
  '127.255.255.255',
  '0.0.0.0',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.0',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.0',
  '100.100.100.200',
  '100.127.255.255',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '::FFFF:192.168.0.1',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  '::127.0.0.1',
  '64:ff9b::a00:1',
  '2002:a00:1::',
  '2001::1',
  '2001:db8::1',
  '4000::1',
  'localhost',
  '',
])('the address %s is not public', (address) => {
  expect(byDefault.allows(address)).toBe(false);
});

it.each([
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '169.253.255.255',
  '192.167.255.255',
  '168.63.129.17',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2606:4700::1111',
  '2a00:1450::1',
  '[2606:4700::1111]',
])('the address %s is public', (address) => {
  expect(byDefault.allows(address)).toBe(true);
});

it('every IPv4 address has the same answer when it is written as IPv6', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(byDefault.allows(`::ffff:${address}`)).toBe(byDefault.allows(address));
    }),
  );
});

it('allowed networks are allowed, in either form, and no others', () => {
  const rules = addressRules('10.1.0.0/16, loopback,fd12::/32,192.168.7.7');
  for (const address of ['10.1.255.255', '127.0.0.1', '::1', '::ffff:10.1.0.1', 'fd12::5', '192.168.7.7', '8.8.8.8'])
    expect(rules.allows(address), address).toBe(true);
  for (const address of ['10.2.0.0', '192.168.7.8', 'fd13::1', '169.254.169.254'])
    expect(rules.allows(address), address).toBe(false);
});
