import {
  type Answer,
  type Approval,
  type ApprovalAudit,
  DroverError,
  type Redactor,
} from "@drover/contracts";
import type { State } from "@drover/state";
import { type AnswerReader, answerApproval, getApproval, listApprovals } from "./approvals.js";
import type { RunQueue } from "./run-queue.js";

export interface ApprovalFilter {
  /** Default 20. */
  limit?: number;
  offset?: number;
}

export interface DecideOptions {
  /** What is kept as the way that the answer came. Default: client. */
  door?: ApprovalAudit["door"];
  /** The service that asks for this, where one is known. */
  service?: string;
  /** Whether whoever decided is who `decidedBy` says. Default true: who has this Redis is an operator. */
  verified?: boolean;
  /** resume: the answer holds for whatever version of the agent there is now. Default: refuse. */
  onVersionMismatch?: "refuse" | "resume";
}

interface Reading {
  readAnswer?: AnswerReader;
  redactorOf?: (agent: string) => Redactor;
}

/** Questions of agents to people, of one tenant. */
export class ApprovalsClient {
  constructor(
    private readonly state: State,
    private readonly queue: RunQueue,
    private readonly tenant: string,
    private readonly reading: Reading,
  ) {}

  /** Those that wait, oldest first. */
  async list({ limit = 20, offset = 0 }: ApprovalFilter = {}): Promise<Approval[]> {
    return listApprovals(this.state, this.tenant, limit, offset);
  }

  async count(): Promise<number> {
    return this.state.indexes.countWaitingApprovals(this.tenant);
  }

  /** Throws UNKNOWN_APPROVAL. */
  async get(approvalId: string): Promise<Approval> {
    return getApproval(this.state, approvalId, this.tenant);
  }

  /** Every approval that a run raised, answered ones included, in their order: who decided what, and how. */
  async ofRun(runId: string): Promise<Approval[]> {
    return this.state.reader.approvals(await this.state.indexes.locate(runId, this.tenant));
  }

  /** Answers one; its run goes on. A wrong answer changes nothing. For what it throws see `answerApproval`. */
  async decide(approvalId: string, answer: Answer, options: DecideOptions = {}): Promise<Approval> {
    const { readAnswer: read, redactorOf } = this.reading;
    if (!read) {
      throw new DroverError(
        "INVALID_CONFIG",
        "This client was opened without `readAnswer`; it cannot decide.",
      );
    }
    const { door = "client", service = null, verified = true, onVersionMismatch } = options;
    const audit = { door, service, verified, messageId: null };
    return answerApproval(this.state, this.queue, approvalId, this.tenant, answer, {
      read,
      redactorOf,
      audit,
      onVersionMismatch,
    });
  }
}
