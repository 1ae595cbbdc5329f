import type { Document, Operation, Response } from '../../../spec/rules/types.ts';
import type { Hit } from './coverage.ts';

/** tests/spec/burn-down.json: what is still to be done. It may only shrink. */
export type BurnDown = {
  /** Operations without a handler: they answer 501, and only their common statuses must be exercised. */
  notImplemented: string[];
  /** Outcomes that no test provokes yet: `409` or `404 AGENT_NOT_FOUND`, by operationId. */
  unexercised: Record<string, string[]>;
};

export type Verdict = { missing: string[]; stale: string[]; undocumented: string[] };

/** What every operation answers before its handler is asked. */
const beforeTheHandler = new Set([400, 401, 413, 415, 429, 500, 503]);

/**
 * The outcomes that tests must provoke, by operationId: each documented status, and where an operation has error codes of
 * its own for a status, each of them as `status CODE`.
 */
export function requiredOutcomes(document: Document, notImplemented: string[]): Map<string, Set<string>> {
  const required = new Map<string, Set<string>>();
  for (const { operation, own, common } of outcomes(document)) {
    const waiting = notImplemented.includes(operation.operationId ?? '');
    const outcomesOf = new Set<string>();
    for (const status of Object.keys(operation.responses ?? {}).map(Number)) {
      if (waiting && !beforeTheHandler.has(status)) continue;
      const codes = waiting ? [] : own(status);
      if (codes.length === 0 || common(status).length > 0) outcomesOf.add(String(status));
      for (const code of codes) outcomesOf.add(`${status} ${code}`);
    }
    required.set(operation.operationId ?? '', outcomesOf);
  }
  return required;
}

/**
 * Compares what the tests provoked with what the document promises. `missing`: documented, not provoked, not in the list.
 * `stale`: in the list, though provoked or not promised. `undocumented`: answered, though the document does not say so.
 */
export function judge(document: Document, burnDown: BurnDown, hits: Hit[]): Verdict {
  const required = requiredOutcomes(document, burnDown.notImplemented);
  const provoked = new Map<string, Set<string>>();
  const verdict: Verdict = { missing: [], stale: [], undocumented: [] };
  const rows = new Map(outcomes(document).map((row) => [row.operation.operationId, row]));
  for (const hit of hits) {
    const row = rows.get(hit.operationId);
    const waiting = burnDown.notImplemented.includes(hit.operationId);
    if (!row?.operation.responses?.[hit.status]) {
      if (!(waiting && hit.status === 501)) verdict.undocumented.push(`${hit.operationId} ${hit.status}`);
      continue;
    }
    const isOwn = hit.code !== undefined && row.own(hit.status).includes(hit.code);
    const outcome = isOwn && !waiting ? `${hit.status} ${hit.code}` : String(hit.status);
    provoked.set(hit.operationId, (provoked.get(hit.operationId) ?? new Set()).add(outcome));
  }
  for (const [operationId, outcomesOf] of required)
    for (const outcome of outcomesOf)
      if (!provoked.get(operationId)?.has(outcome) && !burnDown.unexercised[operationId]?.includes(outcome))
        verdict.missing.push(`${operationId} ${outcome}`);
  for (const operationId of burnDown.notImplemented)
    if (!required.has(operationId)) verdict.stale.push(`${operationId} (notImplemented: no such operation)`);
  for (const [operationId, listed] of Object.entries(burnDown.unexercised))
    for (const outcome of listed) {
      if (!required.get(operationId)?.has(outcome)) verdict.stale.push(`${operationId} ${outcome} (not promised)`);
      else if (provoked.get(operationId)?.has(outcome)) verdict.stale.push(`${operationId} ${outcome} (exercised)`);
    }
  verdict.undocumented = [...new Set(verdict.undocumented)];
  return verdict;
}

function outcomes(document: Document) {
  const operations = Object.values(document.paths ?? {}).flatMap((item) =>
    Object.values(item).filter((node): node is Operation => Boolean((node as Operation)?.operationId)),
  );
  return operations.map((operation) => {
    const common = (status: number): string[] => {
      const response = operation.responses?.[status];
      const shared = document.components?.responses?.[response?.$ref?.split('/').at(-1) ?? ''] as Response | undefined;
      return (shared ?? response)?.['x-error-codes'] ?? [];
    };
    const own = (status: number): string[] =>
      (operation['x-error-codes']?.[status] ?? []).filter((code) => !common(status).includes(code));
    return { operation, own, common };
  });
}
