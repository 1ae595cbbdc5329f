import { additionsOf, type Difference, differencesOf } from './compare/differences.ts';
import { canonicalJson, digestOfEntry, sha256 } from './digest.ts';
import type { FileFault } from './faults.ts';
import type { JsonValue } from './json.ts';
import { type Entry, type Kind, type KindName, thingKey } from './kind.ts';
import type { Pair, Survey } from './survey.ts';

/** One thing that apply would do. */
export interface Step {
  kind: KindName;
  name: string;
  /** `replace` makes a new thing, because the content cannot change, and moves the links to it. */
  action: 'create' | 'change' | 'replace' | 'publish' | 'delete' | 'blocked';
  id?: string;
  differences: Difference[];
  /** Whether it is published at the end. */
  publish: boolean;
  /** Whether it was changed on the service after the last apply or pull. */
  changedOnService: boolean;
  /** Why it is blocked, or why this happens. */
  problem?: string;
}

/** What apply would do, in the order in which it is shown. */
export interface Plan {
  workspaceId: string;
  /** The same for the same changes of the same workspace: `apply --plan` does nothing else. */
  digest: string;
  prune: boolean;
  steps: Step[];
  /** What only the service has, and `--prune` would delete. */
  left: { kind: KindName; name: string; field?: string }[];
  /** Number of things on the service that no file describes. */
  foreign: number;
}

/** A step with what its work needs. */
export interface PlannedStep extends Step {
  pair?: Pair;
  /** What is on the service after the step. */
  wanted?: Entry;
}

/** Compares files and service. */
export function planOf(
  survey: Survey,
  { prune, resendSecrets }: { prune: boolean; resendSecrets: boolean },
): { plan: Plan; steps: PlannedStep[] } {
  const left: Plan['left'] = [];
  const steps = survey.pairs.map((pair) => stepOf(survey, pair, prune, left));
  if (resendSecrets) resend(steps);
  relink(steps);
  for (const { kind, left: things } of survey.matchings.toReversed())
    for (const thing of things) {
      if (!kind.remove) continue;
      if (!prune) {
        left.push({ kind: kind.kind, name: thing.name });
        continue;
      }
      const refusal = kind.refusal?.(thing, undefined, undefined);
      const step = deletion(kind.kind, thing.name, thing.id, refusal ?? 'no file describes it any more');
      steps.push(refusal === undefined ? step : { ...step, action: 'blocked' });
    }
  for (const { kind, id, name } of survey.lock.obsolete)
    steps.push(deletion(kind, name, id, 'its content was replaced'));
  const due = steps.filter((step) => step.action !== 'change' || step.differences.length > 0);
  const foreign = survey.matchings.reduce((sum, matching) => sum + matching.foreign.length, 0);
  const { workspaceId } = survey.setting;
  const shown = due.map(({ pair: _pair, wanted: _wanted, ...step }): Step => step);
  const digest = sha256(canonicalJson([workspaceId, shown as unknown as JsonValue])).slice(0, 16);
  return { plan: { workspaceId, digest, prune, steps: shown, left, foreign }, steps: due };
}

/** Secrets that are sent again are a difference that nobody can see. */
function resend(steps: PlannedStep[]): void {
  for (const step of steps) {
    const { pair, wanted } = step;
    if (!pair?.before || !wanted || !['change', 'publish'].includes(step.action)) continue;
    const secrets = pair.kind.secrets?.(pair.before, wanted, true) ?? [];
    for (const { reference, at } of secrets)
      step.differences.push({ field: at.join('.'), after: `${reference} (sent again)` });
    if (secrets.length > 0) step.action = 'change';
  }
}

/** What is wrong with the references to secrets whose values the plan needs: all are looked up before anything changes. */
export async function secretFaults(
  steps: readonly PlannedStep[],
  resendSecrets: boolean,
  secret: (reference: string) => Promise<string>,
): Promise<FileFault[]> {
  const faults: FileFault[] = [];
  for (const { pair, wanted, action } of steps) {
    if (!pair || !wanted || action === 'blocked') continue;
    for (const { reference, at } of pair.kind.secrets?.(pair.before, wanted, resendSecrets) ?? []) {
      try {
        await secret(reference);
      } catch (error) {
        faults.push(pair.entry.fault(at, (error as Error).message));
      }
    }
  }
  return faults;
}

function deletion(kind: KindName, name: string, id: string, problem: string): PlannedStep {
  return { kind, name, action: 'delete', id, differences: [], publish: false, changedOnService: false, problem };
}

/** A step of a pair; one without anything to do is a change without differences. */
function stepOf(survey: Survey, pair: Pair, prune: boolean, left: Plan['left']): PlannedStep {
  const { kind, entry, listed, before } = pair;
  const base = { kind: kind.kind, name: entry.name, publish: false, changedOnService: false, pair };
  const blocked = (problem: string, differences: Difference[]) => ({
    ...base,
    action: 'blocked' as const,
    ...(listed && { id: listed.id }),
    differences,
    problem,
  });
  if (!listed) {
    const added = visible(kind, additionsOf(entry));
    const refusal = kind.refusal?.(undefined, undefined, entry);
    if (refusal !== undefined) return blocked(refusal, added);
    const publish = kind.needsPublish?.(undefined, entry, added) ?? false;
    const lost = pair.wasDeleted ? { problem: 'it was deleted on the service' } : {};
    return { ...base, ...lost, action: 'create', differences: added, publish, wanted: entry };
  }
  if (!before) return blocked(listed.problem ?? 'It cannot be read.', []);
  const wanted = prune ? entry : (kind.keep?.(before, entry) ?? entry);
  for (const { field } of visible(kind, differencesOf(wanted, entry)))
    left.push({ kind: kind.kind, name: entry.name, field });
  const differences = visible(kind, differencesOf(before, wanted));
  const refusal = differences.length === 0 ? undefined : kind.refusal?.(listed, before, wanted);
  if (refusal !== undefined) return blocked(refusal, differences);
  const publish = kind.needsPublish?.(listed, wanted, differences) ?? false;
  const known = survey.lock.find(kind.kind, listed.id);
  const changedOnService =
    differences.length > 0 &&
    known?.digest !== undefined &&
    known.digest !== digestOfEntry({ ...withHints(before, entry, kind), name: known.name });
  const action =
    differences.length === 0 && publish ? 'publish' : kind.replaces?.(before, wanted) ? 'replace' : 'change';
  return { ...base, action, id: listed.id, differences, publish, changedOnService, wanted };
}

/** An entry of the service with the hints of the file, which it cannot have itself. */
export function withHints(entry: Entry, ofFile: Entry, kind: Kind): Entry {
  const { hints = [] } = kind;
  if (hints.length === 0) return entry;
  const own = Object.entries(entry.fields).filter(([field]) => !hints.includes(field));
  const hinted = Object.entries(ofFile.fields).filter(([field]) => hints.includes(field));
  return { ...entry, fields: Object.fromEntries([...own, ...hinted]) };
}

/** Without what only says how to apply. */
function visible(kind: Kind, differences: Difference[]): Difference[] {
  return differences.filter(({ field }) => !kind.hints?.includes(field));
}

/** What links to a thing that is replaced must link to the new one. */
function relink(steps: PlannedStep[]): void {
  const replaced = new Set(
    steps.filter(({ action }) => action === 'replace').map(({ kind, name }) => thingKey(kind, name)),
  );
  if (replaced.size === 0) return;
  for (const step of steps) {
    const { pair, wanted } = step;
    if (!pair || !wanted || !['change', 'publish'].includes(step.action)) continue;
    const moved = (pair.kind.references?.(wanted) ?? []).filter(({ kind, name }) => replaced.has(thingKey(kind, name)));
    for (const { kind, name } of moved)
      step.differences.push({
        field: `link to ${kind} ${name}`,
        before: 'the former content',
        after: 'the new content',
      });
    if (moved.length === 0) continue;
    step.action = 'change';
    step.publish = pair.kind.needsPublish?.(pair.listed, wanted, step.differences) ?? false;
  }
}

/** Whether the workspace is other than the files say, also where nothing can be done about it. */
export function isPending(plan: Plan): boolean {
  return plan.steps.some(({ action, differences }) => action !== 'blocked' || differences.length > 0);
}

/** Whether apply would change anything. */
export function hasWork(plan: Plan): boolean {
  return plan.steps.some(({ action }) => action !== 'blocked');
}
