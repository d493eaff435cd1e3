/** A published label. */
export interface Label {
  readonly level: string;
  readonly category: number | null;
  readonly source: string | null;
}

/** A change of a label, with its cause in words. */
export interface LabelChange {
  readonly eventId: number;
  readonly at: string;
  readonly from: Label;
  readonly to: Label;
  readonly cause: string;
  readonly why: string;
}

/** A dispute, without its contact. */
export interface Dispute {
  readonly disputeId: number;
  readonly phone: string;
  readonly reason: string;
  readonly filedBy: string;
  readonly filedAt: string;
  readonly hasContact: boolean;
  readonly label: Label;
  readonly state: 'open' | 'cleared' | 'upheld';
  readonly decision: { readonly at: string; readonly by: string; readonly reason: string } | null;
}

/** A number with its label and why it has it. */
export interface ShownNumber {
  readonly phone: string;
  readonly country: string | null;
  readonly reputation: {
    readonly level: string;
    readonly category: { readonly id: number; readonly name: string } | null;
    readonly source: string | null;
  } | null;
  readonly since: string | null;
  readonly feed: {
    readonly level: string;
    readonly category: number | null;
    readonly loadId: number;
    readonly requestedAt: string | null;
  } | null;
  readonly complaints: number;
  readonly score: {
    readonly level: string;
    readonly category: number | null;
    readonly ruleVersion: string;
    readonly reports: number;
    readonly independentReports: number;
    readonly lastReportedAt: string | null;
  } | null;
  readonly redress: readonly {
    readonly redressId: number;
    readonly reason: string;
    readonly clearedBy: string;
    readonly clearedAt: string;
  }[];
  readonly protection: string | null;
  readonly changes: readonly LabelChange[];
  readonly disputes: readonly Dispute[];
}

/** How to reach who filed a dispute. */
export interface DisputeContact {
  readonly contact: string | null;
}
