import { ServiceError } from '../../runtime/errors.ts';

/** The address of the console. */
export interface ConsoleAddress {
  /** Origins (RFC 6454) of its pages. */
  readonly origins: ReadonlySet<string>;
  /** Accepted values of the Host header; others indicate DNS rebinding. */
  readonly hosts: ReadonlySet<string>;
  /** True if browsers connect with TLS. */
  readonly secure: boolean;
}

const loopback = new Set(['127.0.0.1', '::1', 'localhost']);

/**
 * The address of the console, from its settings and its port. Beyond the loopback interface an https origin must be set: the
 * session cookie must not cross a network unencrypted.
 * @throws ServiceError `setting_invalid`
 */
export function addressOf(
  { consoleHost, consoleOrigin }: { readonly consoleHost: string; readonly consoleOrigin?: string | undefined },
  port: number,
): ConsoleAddress {
  requireOrigin(consoleHost, consoleOrigin);
  const local = ['127.0.0.1', '[::1]', 'localhost'].map((host) => new URL(`http://${host}:${port}`));
  const given = consoleOrigin === undefined ? [] : [new URL(consoleOrigin)];
  return {
    origins: new Set([...given, ...local].map(({ origin }) => origin)),
    hosts: new Set([...given, ...local].map(({ host }) => host)),
    secure: given.some(({ protocol }) => protocol === 'https:'),
  };
}

/** @throws ServiceError `setting_invalid` if session cookies would cross a network without TLS */
export function requireOrigin(consoleHost: string, consoleOrigin: string | undefined): void {
  const isSafe = consoleOrigin === undefined ? loopback.has(consoleHost) : isOriginSafe(new URL(consoleOrigin));
  if (isSafe) return;
  throw new ServiceError('setting_invalid', {
    operation: 'start console',
    object: consoleOrigin ?? consoleHost,
    problem:
      consoleOrigin === undefined
        ? 'CONSOLE_HOST is not the loopback interface, and CONSOLE_ORIGIN names no https address.'
        : 'CONSOLE_ORIGIN is no https address.',
    hint: 'Put a reverse proxy with TLS in front and set CONSOLE_ORIGIN to the address that browsers use.',
  });
}

function isOriginSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || loopback.has(hostname.replace(/^\[|\]$/g, ''));
}
