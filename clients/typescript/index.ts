/** Everything of the client that browsers have too; `caller-trust-client/node` adds copies in files. */
export { ClientError, CLIENT_ERRORS, isClientError, type ClientErrorCode } from '../../format/base/errors.ts';
export {
  artefactOf,
  PUBLISHED_CACHES,
  rangeOf,
  type ArtefactName,
  type CacheName,
} from '../../format/artefact/caches.ts';
export {
  FILTER_KEYS,
  NumberFilter,
  type FilterFacts,
  type FingerprintBits,
} from '../../format/artefact/number-filter.ts';
export { MemoryStore, type ByteStore } from './service/byte-store.ts';
export type { Row } from '../../format/artefact/find-row.ts';
export { lookUp } from './service/look-up.ts';
export { readFilter, type ReadFilter } from './service/read-filter.ts';
export type { ServedManifest } from './service/manifest.ts';
export { readManifest, readManifests } from './service/manifest-source.ts';
export type * from './service/api-documents.ts';
export { readDocument, readNumber, type DocumentPath } from './service/read-document.ts';
export { applyToRows, MemoryCopy, type MemoryUpdate } from './service/memory-copy.ts';
export { PublicationTrust, type TrustReport } from './service/publication-trust.ts';
export { ServiceClient, type RetryPolicy } from './service/service-client.ts';
