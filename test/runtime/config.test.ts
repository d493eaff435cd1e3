import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../runtime/config.ts';

describe('CONSOLE_PROXIES', () => {
  it.each([
    'loopback',
    'linklocal',
    'uniquelocal',
    '10.0.0.7',
    '10.0.0.0/8',
    '192.0.2.1/32',
    '::1',
    'fc00::/7',
    '2001:db8::1/128',
    '::ffff:10.0.0.1',
    'loopback,10.0.0.0/8',
    ' 10.0.0.1 , uniquelocal ',
  ])('takes %s, as the server does', (CONSOLE_PROXIES) => {
    expect(loadConfig({ CONSOLE_PROXIES }).consoleProxies).toBe(CONSOLE_PROXIES);
    expect(() => fastify({ trustProxy: CONSOLE_PROXIES })).not.toThrow();
  });

  it.each([
    'not-an-address',
    '10.0.0.0/0',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '10.0.0',
    '256.0.0.1',
    'loopback,',
    ',',
    'loopback;10.0.0.1',
    'true',
    '1',
    '*',
    'Loopback',
    'console.example.com',
    'fe80::1%eth0',
  ])('refuses %s, and says which setting that is', (CONSOLE_PROXIES) => {
    expect(() => loadConfig({ CONSOLE_PROXIES })).toThrow(
      expect.objectContaining({
        code: 'setting_invalid',
        problem: expect.stringMatching(/^CONSOLE_PROXIES: expected addresses, .*\.$/) as string,
      }) as Error,
    );
  });
});

describe('CONSOLE_ORIGIN', () => {
  it.each([
    'https://console.example.com',
    'https://console.example.com:8443',
    'https://[2001:db8::1]',
    'http://localhost:8090',
  ])('takes %s', (CONSOLE_ORIGIN) => {
    expect(loadConfig({ CONSOLE_ORIGIN }).consoleOrigin).toBe(CONSOLE_ORIGIN);
  });

  it.each([
    'console.example.com',
    'https://',
    'https://console.example.com/',
    'https://user@console.example.com',
    'https://a b',
    'https://console.example.com:99999',
    'https://[::1',
    'ftp://console.example.com',
  ])('refuses %s', (CONSOLE_ORIGIN) => {
    expect(() => loadConfig({ CONSOLE_ORIGIN })).toThrow(
      expect.objectContaining({
        code: 'setting_invalid',
        problem: expect.stringMatching(/^CONSOLE_ORIGIN: /) as string,
      }) as Error,
    );
  });
});

describe('API_ALLOWED_ORIGINS', () => {
  it.each(['https://app.example.com', 'http://localhost:5173,https://[2001:db8::1]:8443', '*'])(
    'takes %s',
    (API_ALLOWED_ORIGINS) => {
      expect(loadConfig({ API_ALLOWED_ORIGINS }).apiAllowedOrigins).toBe(API_ALLOWED_ORIGINS);
    },
  );

  it.each([
    'https://app.example.com/',
    'https://App.example.com',
    'https://app.example.com:443',
    'https://a.example, https://b.example',
    'https://a.example,*',
    'app.example.com',
    'null',
    'ftp://a.example',
    'https://*.example.com',
  ])('refuses %s', (API_ALLOWED_ORIGINS) => {
    expect(() => loadConfig({ API_ALLOWED_ORIGINS })).toThrow(
      expect.objectContaining({
        code: 'setting_invalid',
        problem: expect.stringMatching(/^API_ALLOWED_ORIGINS: expected origins/) as string,
      }) as Error,
    );
  });
});
