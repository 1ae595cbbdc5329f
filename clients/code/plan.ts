import { additionsOf, type Difference, differencesOf } from './compare/differences.ts';
import { canonicalJson, digestOfEntry, sha256 } from './digest.ts';
import type { JsonValue } from './json.ts';
import type { Entry, KindName } from './kind.ts';
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
  /** Why it is blocked. */
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
export function planOf(survey: Survey, prune: boolean): { plan: Plan; steps: PlannedStep[] } {
  const left: Plan['left'] = [];
  const steps = survey.pairs.map((pair) => stepOf(survey, pair, prune, left));
  relink(steps);
  for (const { kind, left: things } of survey.matchings.toReversed())
    for (const { id, name } of things) {
      if (!kind.remove) continue;
      if (prune) steps.push(deletion(kind.kind, name, id, 'no file describes it any more'));
      else left.push({ kind: kind.kind, name });
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

function deletion(kind: KindName, name: string, id: string, problem: string): PlannedStep {
  return { kind, name, action: 'delete', id, differences: [], publish: false, changedOnService: false, problem };
}

/** A step of a pair; one without anything to do is a change without differences. */
function stepOf(survey: Survey, pair: Pair, prune: boolean, left: Plan['left']): PlannedStep {
  const { kind, entry, listed, before } = pair;
  const base = { kind: kind.kind, name: entry.name, publish: false, changedOnService: false, pair };
  if (!listed) {
    const publish = kind.needsPublish?.(undefined, entry, additionsOf(entry)) ?? false;
    return { ...base, action: 'create', differences: additionsOf(entry), publish, wanted: entry };
  }
  if (!before)
    return { ...base, action: 'blocked', id: listed.id, differences: [], problem: listed.problem ?? 'cannot be read' };
  const wanted = prune ? entry : (kind.keep?.(before, entry) ?? entry);
  for (const { field } of differencesOf(wanted, entry)) left.push({ kind: kind.kind, name: entry.name, field });
  const differences = differencesOf(before, wanted);
  const publish = kind.needsPublish?.(listed, wanted, differences) ?? false;
  const known = survey.lock.find(kind.kind, listed.id);
  const changedOnService =
    differences.length > 0 &&
    known?.digest !== undefined &&
    known.digest !== digestOfEntry({ ...before, name: known.name });
  const action =
    differences.length === 0 && publish ? 'publish' : kind.replaces?.(before, wanted) ? 'replace' : 'change';
  return { ...base, action, id: listed.id, differences, publish, changedOnService, wanted };
}

/** What links to a thing that is replaced must link to the new one. */
function relink(steps: PlannedStep[]): void {
  const replaced = new Set(
    steps.filter(({ action }) => action === 'replace').map(({ kind, name }) => `${kind}\0${name}`),
  );
  if (replaced.size === 0) return;
  for (const step of steps) {
    const { pair, wanted } = step;
    if (!pair || !wanted || !['change', 'publish'].includes(step.action)) continue;
    const moved = (pair.kind.references?.(wanted) ?? []).filter(({ kind, name }) => replaced.has(`${kind}\0${name}`));
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

/** Whether apply would change anything. */
export function isPending(plan: Plan): boolean {
  return plan.steps.some(({ action }) => action !== 'blocked');
}
