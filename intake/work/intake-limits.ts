/** Limits of the intake that no installation has needed to change. Tests use smaller ones. */
export const intakeLimits = {
  /** Bytes of a request in JSON; a batch of the most recordings has some 2 MB. The files that it names are sent before it. */
  bodyBytesMax: 4 * 1024 * 1024,
  /** Recordings of one batch; a larger one is split. */
  batchFilesMax: 10_000,
  /** Incomplete uploads that the keys of one client may have at a time. */
  openUploadsMax: 64,
  /** Share of INTAKE_DISK_BYTES_MAX that the uploads of one client may take: the others are never kept out by one. */
  clientShareMax: 1 / 4,
  /** Bytes of the disk that are kept for an upload before they arrive. */
  announcedBytesMax: 1024 * 1024,
  /** Bytes that are kept for an upload at a time while its bytes arrive: one transaction for each. */
  reservedStepBytes: 16 * 1024 * 1024,
  /** No more work of a kind is taken while this many jobs of it wait: hours of work for most machines. */
  waitingJobsMax: 10_000,
};
