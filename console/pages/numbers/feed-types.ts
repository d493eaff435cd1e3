/** When a feed came last, and whether it is late. */
export interface ShownArrival {
  readonly feed: string;
  readonly source: string;
  readonly lastAt: string | null;
  readonly rows: number | null;
  readonly expectedHours: number | null;
  readonly late: boolean;
}

/** A list of arrivals. */
export interface ShownArrivals {
  readonly arrivals: readonly ShownArrival[];
}

/** A gate that a load did not pass; figures in percent. */
export interface ShownGate {
  readonly gate: string;
  readonly figure: number;
  readonly usual: number;
  readonly limit: number;
  readonly reason: string;
}

/** A load of a feed. */
export interface ShownLoad {
  readonly loadId: number;
  readonly feed: string;
  readonly source: string;
  readonly fileName: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly submittedBy: string;
  readonly state: string;
  readonly requestedAt: string;
  readonly finishedAt: string | null;
  readonly rowsGiven: number | null;
  readonly rowsAccepted: number | null;
  readonly rowsRejected: number | null;
  readonly rowsChanged: number | null;
  readonly rowsTooOld: number | null;
  readonly labelsWithheld: number | null;
  readonly gates: readonly ShownGate[];
  readonly decision: {
    readonly kind: string;
    readonly by: string;
    readonly at: string;
    readonly reason: string;
  } | null;
  readonly failure: { readonly code: string; readonly reason: string } | null;
}

/** A page of loads, newest first. */
export interface ShownLoads {
  readonly loads: readonly ShownLoad[];
  readonly next: string | null;
}

/** A refused row. */
export interface ShownReject {
  readonly line: number;
  readonly code: string;
  readonly reason: string;
  readonly excerpt: string;
}

/** A page of refused rows, in the order of the file. */
export interface ShownRejects {
  readonly rejects: readonly ShownReject[];
  readonly next: string | null;
}

/** A feed that was handed in. */
export interface TakenFeed {
  readonly loadId: number;
}
