import { Redis } from 'ioredis';
import { ServiceError, errorMessageOf, isServiceError } from './errors.ts';

export type { Redis } from 'ioredis';

/** The facts that decide whether a Redis keeps jobs; undefined if unknown. */
interface RedisFacts {
  readonly version: string | undefined;
  /** `master`, or `slave` for a replica. */
  readonly role: string | undefined;
  /** Setting `appendonly`. */
  readonly appendOnly: string | undefined;
  /** Setting `maxmemory-policy`. */
  readonly evictionPolicy: string | undefined;
}

/** The parameters of a connection. */
interface RedisOptions {
  url: string;
  /** Shown in CLIENT LIST. */
  name: string;
  /** Reconnections after which a command fails; null waits without limit, as a worker must. */
  commandRetriesMax: number | null;
  /** Called when the connection breaks; the client reconnects by itself. */
  onError: (error: Error) => void;
}

/** BullMQ uses commands of this version. */
const versionMin = [6, 2] as const;
const connectSecondsMax = 5;
const reconnectMillisecondsMax = 2000;

/**
 * Connects to a Redis that keeps its jobs: append-only file on, nothing evicted, version 6.2 or later, not a replica.
 * With the append-only file off, every acknowledged job was lost on a kill.
 * @throws ServiceError `redis_unavailable`, `redis_unsafe`, or `setting_invalid` if the URL is not one of Redis.
 */
export async function connectRedis(options: RedisOptions): Promise<Redis> {
  const client = await openRedis(options);
  try {
    requireSafe(await readFacts(client));
    return client;
  } catch (error) {
    client.disconnect();
    throw isServiceError(error) ? error : redisUnavailable(error);
  }
}

/** The reasons why a Redis would lose jobs, each with the command that fixes it if there is one. */
export function findHazards({
  version,
  role,
  appendOnly,
  evictionPolicy,
}: RedisFacts): { problem: string; cure?: string }[] {
  const hazards: { problem: string; cure?: string }[] = [];
  if (version === undefined || isOlder(version))
    hazards.push({ problem: `its version is ${version ?? 'unknown'}, and ${versionMin.join('.')} or later is needed` });
  if (role === 'slave') hazards.push({ problem: 'it is a replica, which takes no jobs' });
  if (appendOnly !== 'yes')
    hazards.push({ problem: describeSetting('appendonly', appendOnly), cure: 'CONFIG SET appendonly yes' });
  if (evictionPolicy !== 'noeviction')
    hazards.push({
      problem: describeSetting('maxmemory-policy', evictionPolicy),
      cure: 'CONFIG SET maxmemory-policy noeviction',
    });
  return hazards;
}

async function openRedis({ url, name, commandRetriesMax, onError }: RedisOptions): Promise<Redis> {
  requireRedisUrl(url);
  let lastError: unknown;
  const client = new Redis(url, {
    connectionName: name,
    lazyConnect: true,
    connectTimeout: connectSecondsMax * 1000,
    maxRetriesPerRequest: commandRetriesMax,
    retryStrategy: (times) => Math.min(times * 100, reconnectMillisecondsMax),
    // After a failover the old primary answers as a replica: reconnect.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  client.on('error', (error: Error) => {
    lastError = error;
    onError(error);
  });
  const tooLate = new Promise<never>((_resolve, reject) =>
    setTimeout(
      () => reject(lastError ?? new Error(`no answer in ${connectSecondsMax} s`)),
      connectSecondsMax * 1000,
    ).unref(),
  );
  try {
    await Promise.race([client.connect(), tooLate]);
    return client;
  } catch (error) {
    client.disconnect();
    throw redisUnavailable(lastError ?? error);
  }
}

function requireRedisUrl(url: string): void {
  if (/^rediss?:\/\//.test(url)) return;
  throw new ServiceError('setting_invalid', {
    operation: 'connect to Redis',
    problem: 'REDIS_URL does not begin with redis:// or rediss://.',
  });
}

/** INFO has all four, also in a managed Redis that forbids CONFIG; CONFIG is the fallback. */
async function readFacts(client: Redis): Promise<RedisFacts> {
  const info = parseInfo(await client.info());
  const appendOnly = { '0': 'no', '1': 'yes' }[info.get('aof_enabled') ?? ''];
  return {
    version: info.get('redis_version'),
    role: info.get('role'),
    appendOnly: appendOnly ?? (await readSetting(client, 'appendonly')),
    evictionPolicy: info.get('maxmemory_policy') ?? (await readSetting(client, 'maxmemory-policy')),
  };
}

function parseInfo(text: string): Map<string, string> {
  const lines = text.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

async function readSetting(client: Redis, name: string): Promise<string | undefined> {
  try {
    const reply = (await client.config('GET', name)) as string[];
    return reply[1];
  } catch {
    return undefined; // forbidden or unknown
  }
}

function requireSafe(facts: RedisFacts): void {
  const hazards = findHazards(facts);
  if (hazards.length === 0) return;
  const cures = hazards.flatMap(({ cure }) => cure ?? []);
  const commands =
    cures.length === 0
      ? ''
      : ` Run ${cures.map((cure) => `\`${cure}\``).join(' and ')}, then CONFIG REWRITE; on a managed Redis set them where it is configured.`;
  throw new ServiceError('redis_unsafe', {
    operation: 'check Redis',
    problem: `This Redis cannot hold the queues: ${hazards.map(({ problem }) => problem).join('; ')}.`,
    hint: `${commands} Without REDIS_URL the queues live in PostgreSQL.`.trim(),
  });
}

function describeSetting(setting: string, value: string | undefined): string {
  return value === undefined ? `${setting} could not be read` : `${setting} is ${value}`;
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < versionMin[0] || (major === versionMin[0] && minor < versionMin[1]);
}

function redisUnavailable(cause: unknown): ServiceError {
  return new ServiceError('redis_unavailable', {
    operation: 'connect to Redis',
    problem: `Redis cannot be reached: ${errorMessageOf(cause)}.`,
    hint: 'Check REDIS_URL, or leave it empty to keep the queues in PostgreSQL.',
    cause,
  });
}
