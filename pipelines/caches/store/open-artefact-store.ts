import type { Config } from '../../../runtime/config.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { ArtefactBucket } from './artefact-bucket.ts';
import { ArtefactDirectory } from './artefact-directory.ts';
import type { ArtefactStore } from './artefact-store.ts';
import { ObjectStore } from './object-store.ts';

/** The settings of the artefact store. */
type ArtefactStoreSettings = Pick<
  Config,
  | 'artefactDir'
  | 'artefactStoreUrl'
  | 'artefactStoreEndpoint'
  | 'artefactStoreRegion'
  | 'artefactStoreAccessKeyId'
  | 'artefactStoreSecretAccessKey'
  | 'artefactStoreSessionToken'
>;

const MiB = 1024 * 1024;

/** Limits of the object store that no installation has needed to change. Tests use smaller ones. */
const storeLimits = {
  /** Seconds of an operation, with all attempts at its request. */
  secondsMax: 60,
  /**
   * Seconds in which an answer must be complete, or the next chunk of a download arrive, before the request is made again: a part
   * takes 2 s over 100 Mbit/s.
   */
  attemptSecondsMax: 20,
  /** Larger files are uploaded in parts of this size, two at a time, which are held in memory. */
  partBytes: 16 * MiB,
};

/** Of a store that somebody waits for: a client of the API, or a person. */
export const storeLimitsOfWaiting = { secondsMax: 10, attemptSecondsMax: 5 } as const;

/**
 * The configured store of artefacts: a bucket if there is a URL, else a directory. The signal ends requests to a bucket.
 * @throws ServiceError `setting_invalid` if the URL is given without credentials.
 */
export function openArtefactStore(
  settings: ArtefactStoreSettings,
  { signal, ...limits }: Partial<typeof storeLimits> & { readonly signal?: AbortSignal } = {},
): ArtefactStore {
  const directory = new ArtefactDirectory(settings.artefactDir);
  if (settings.artefactStoreUrl === undefined) return directory;
  const {
    artefactStoreAccessKeyId: accessKeyId,
    artefactStoreSecretAccessKey: secretAccessKey,
    artefactStoreSessionToken: sessionToken,
    artefactStoreRegion: region,
  } = settings;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new ServiceError('setting_invalid', {
      operation: 'open artefact store',
      problem: 'ARTEFACT_STORE_URL needs ARTEFACT_STORE_ACCESS_KEY_ID and ARTEFACT_STORE_SECRET_ACCESS_KEY.',
    });
  }
  const { bucket, prefix } = readStoreUrl(settings.artefactStoreUrl);
  const objects = new ObjectStore({
    endpoint: settings.artefactStoreEndpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    bucket,
    credentials: { accessKeyId, secretAccessKey, sessionToken },
    ...storeLimits,
    ...limits,
    signal,
  });
  return new ArtefactBucket({ objects, prefix, copies: directory });
}

/** Bucket and prefix of `s3://bucket/prefix`; config.ts has checked the form. */
export function readStoreUrl(url: string): { bucket: string; prefix: string } {
  const [bucket = '', ...path] = url
    .slice('s3://'.length)
    .split('/')
    .filter((part) => part !== '');
  return { bucket, prefix: path.map((part) => `${part}/`).join('') };
}
