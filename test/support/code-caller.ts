import type { CodeCaller, VerificationCall } from '../../pipelines/branding/proof/code-caller.ts';

/** A caller of the tests: keeps the calls that it took, and can refuse or die at a call. */
export class HeardCalls implements CodeCaller {
  readonly calls: VerificationCall[] = [];
  /** Called before a call is taken, and after; what they throw is what placing throws. */
  before: (call: VerificationCall) => void = () => {};
  after: (call: VerificationCall) => void = () => {};

  async place(call: VerificationCall): Promise<void> {
    this.before(call);
    this.calls.push(call);
    this.after(call);
  }

  async hasTaken(callId: number): Promise<boolean> {
    return this.calls.some((call) => call.callId === callId);
  }

  /** The code that was last given to a number. */
  codeOf(phone: string): string {
    return this.calls.findLast((call) => call.phone === phone)!.code;
  }
}
