import type { Kysely } from 'kysely';
import { selectPromptParts } from '../../db/queries/turns/promptParts.ts';
import { findStepRequest } from '../../db/queries/turns/stepRequests.ts';
import type {
  StepRequestFormat1,
  StoredPartReference,
  StoredRequestMessage,
  StoredRequestSettings,
  StoredRequestTool,
} from '../../db/stored/stepRequest.ts';
import type { DB } from '../../generated/db.ts';
import { weekOf } from './requestWeek.ts';

/** What a model was sent in a step, as far as it is stored. */
export interface WholeRequest {
  settings: StoredRequestSettings;
  /** Null: no longer stored. */
  system: string | null;
  /** Null: no longer stored. */
  tools: readonly StoredRequestTool[] | null;
  /** How many messages stood before `messages` and are not stored. */
  missingMessages: number;
  messages: readonly StoredRequestMessage[];
}

/** A request of the log, and whose step it is of. */
interface LoggedRequest {
  agentId: string;
  turnId: string;
  request: StepRequestFormat1;
}

/** Larger than what is written, so that rows that name each other end as well. */
const MAX_READ = 1_000;

/** Reads what models were sent in the steps of turns. */
export class RequestReader {
  readonly #db: Kysely<DB>;
  readonly #workspaceId: string;
  readonly #rows = new Map<string, Promise<LoggedRequest | undefined>>();

  constructor(db: Kysely<DB>, workspaceId: string) {
    this.#db = db;
    this.#workspaceId = workspaceId;
  }

  /** What the model of a step was sent. Undefined when nothing of it is stored, or in a format that this version does not know. */
  async read(turnId: string, seq: number): Promise<WholeRequest | undefined> {
    const last = await this.#row(turnId, seq);
    if (!last) return undefined;
    const chain = [last];
    for (let at: LoggedRequest | undefined = last; at?.request.base && chain.length < MAX_READ; ) {
      at = await this.#row(at.request.base.turnId, at.request.base.seq);
      if (at) chain.push(at);
    }
    let messages: StoredRequestMessage[] = [];
    let missing = chain.at(-1)?.request.base?.messages ?? 0;
    for (const [place, { request }] of chain.toReversed().entries()) {
      const kept = request.base?.messages ?? 0;
      // Of the first one that is left, the beginning is what is missing.
      if (place > 0) {
        missing = Math.min(missing, kept);
        messages = messages.slice(0, kept - missing);
      }
      messages.push(...request.messages);
    }
    const fields = chain.map(({ request: { system, tools } }) => ({ system, tools }));
    const system = fields.find((one) => one.system !== undefined)?.system;
    const tools = fields.find((one) => one.tools !== undefined)?.tools;
    const parts = await selectPromptParts(
      this.#db,
      this.#workspaceId,
      { agentId: last.agentId, week: weekOf(turnId) },
      [system, tools].flatMap((one) => (isReference(one) ? [one.part] : [])),
    );
    return {
      settings: last.request.settings,
      system: (isReference(system) ? (parts.get(system.part) as string | undefined) : system) ?? null,
      tools: (isReference(tools) ? (parts.get(tools.part) as StoredRequestTool[] | undefined) : tools) ?? null,
      missingMessages: missing,
      messages,
    };
  }

  #row(turnId: string, seq: number): Promise<LoggedRequest | undefined> {
    const key = `${turnId}/${seq}`;
    const known = this.#rows.get(key);
    if (known) return known;
    const read = findStepRequest(this.#db, this.#workspaceId, turnId, seq).then((row) =>
      row?.request?.format === 1 ? { agentId: row.agent_id, turnId, request: row.request } : undefined,
    );
    this.#rows.set(key, read);
    return read;
  }
}

function isReference(field: unknown): field is StoredPartReference {
  return typeof field === 'object' && field !== null && 'part' in field;
}
