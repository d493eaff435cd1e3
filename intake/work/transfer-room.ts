import type { FastifyRequest } from 'fastify';
import { identifyCaller, requireScope, type Caller } from '../../pipelines/access/authentication.ts';
import { reserveRoom, UPLOAD_KINDS, type Upload } from '../../pipelines/submissions/upload.ts';
import type { IntakeWork } from './intake-work.ts';

/** Milliseconds after which a transfer counts as active again: far less than the hour after which an idle upload is removed. */
const activeMs = 600_000;

/** The room on the disk of one transfer. */
export class TransferRoom {
  readonly #work: Pick<IntakeWork, 'config' | 'db' | 'keys' | 'limits'>;
  readonly #request: FastifyRequest;
  readonly #client: string;
  #upload: Upload;
  #activeAt: number;

  /** `activeAt`: when bytes of the upload last arrived, as the database knows; 0 if that may be long ago. */
  constructor(
    work: Pick<IntakeWork, 'config' | 'db' | 'keys' | 'limits'>,
    request: FastifyRequest,
    { upload, activeAt }: { readonly upload: Upload; readonly activeAt: number },
  ) {
    this.#work = work;
    this.#request = request;
    this.#client = clientOf(request.caller, upload);
    this.#upload = upload;
    this.#activeAt = activeAt;
  }

  /**
   * Lets an upload have more bytes: its key must not have ended, and room is kept before they are written.
   * @throws ServiceError `unauthenticated`, `forbidden`, `uploads_too_many`, `uploads_full`
   */
  async admit(bytes: number): Promise<void> {
    const { keys, limits } = this.#work;
    clientOf(identifyCaller(this.#request.headers.authorization, keys), this.#upload);
    const { bytes: all, reservedBytes } = this.#upload;
    if (bytes > reservedBytes) await this.#keep(Math.min(all, bytes + limits.reservedStepBytes));
    else if (Date.now() - this.#activeAt > activeMs) await this.#keep(reservedBytes);
  }

  /** Gives back what is kept beyond what an incomplete upload has and may announce. */
  async giveBack(bytes: number): Promise<void> {
    const { reservedBytes } = this.#upload;
    await this.#keep(Math.min(reservedBytes, bytes + this.#work.limits.announcedBytesMax));
  }

  async #keep(bytes: number): Promise<void> {
    const { config, db, limits } = this.#work;
    await reserveRoom(db, this.#client, { upload: this.#upload, bytes, limits: { ...config, ...limits } });
    this.#upload = { ...this.#upload, reservedBytes: bytes };
    this.#activeAt = Date.now();
  }
}

/** The client of the key. @throws as {@link requireScope} */
function clientOf(caller: Caller, { kind }: Upload): string {
  return requireScope(caller, UPLOAD_KINDS[kind].scope).client;
}
