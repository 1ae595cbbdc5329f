import { randomUUID } from 'node:crypto';
import { GuildhallError } from '../sdk/index.ts';
import { isEnd, isRefusal } from './applyErrors.ts';
import { differencesOf } from './compare/differences.ts';
import { digestOfEntry } from './digest.ts';
import type { JsonObject } from './json.ts';
import { type ChangeContext, type Entry, type Kind, type KindName, thingKey } from './kind.ts';
import { noteUnchanged } from './noteUnchanged.ts';
import type { PlannedStep } from './plan.ts';
import { inParallel } from './pool.ts';
import type { Survey } from './survey.ts';

/** How a plan is carried out. */
export interface ApplyOptions {
  prune: boolean;
  /** Sends every secret again, changed or not. */
  resendSecrets: boolean;
  secret(reference: string): Promise<string>;
  /** Is told what was done, as it is done. */
  progress(text: string): void;
}

/** A thing that could not be brought to what its file says. */
export interface ApplyFailure {
  kind: KindName;
  name: string;
  error: unknown;
}

/** What an apply came to. */
export interface ApplyResult {
  created: number;
  changed: number;
  published: number;
  deleted: number;
  failures: ApplyFailure[];
}

/**
 * Carries out a plan: kinds in the order of their needs, then everything is published, then what is to go is deleted. A failure leaves the
 * other things whole, and is in the result; without the service, or with a key that it refuses, everything ends at once and the error is
 * thrown. What was done is in the lock file at any moment, so that the same command goes on after whatever ended it.
 */
export async function applySteps(
  survey: Survey,
  steps: readonly PlannedStep[],
  options: ApplyOptions,
): Promise<ApplyResult> {
  const run = new ApplyRun(survey, options);
  for (const kind of survey.setting.kinds)
    await run.applyKind(
      kind,
      steps.filter((step) => step.kind === kind.kind && step.pair && step.action !== 'blocked'),
    );
  await run.publish(steps.filter(({ publish }) => publish));
  await run.remove(steps.filter(({ action }) => action === 'delete'));
  for (const { kind, name, problem } of steps.filter(({ action }) => action === 'blocked'))
    run.result.failures.push({ kind, name, error: new Error(problem) });
  noteUnchanged(survey, run.failedNames());
  await survey.lock.save();
  return run.result;
}

class ApplyRun {
  readonly result: ApplyResult = { created: 0, changed: 0, published: 0, deleted: 0, failures: [] };
  readonly #survey: Survey;
  readonly #options: ApplyOptions;
  readonly #replaced = new Map<string, string>();
  /** Ids of things as they are after their creation, and what they must still become. */
  readonly #current = new Map<PlannedStep, { id: string; before: Entry }>();

  constructor(survey: Survey, options: ApplyOptions) {
    this.#survey = survey;
    this.#options = options;
  }

  async applyKind(kind: Kind, steps: readonly PlannedStep[]): Promise<void> {
    const changes = steps.filter(({ action }) => action === 'change' || action === 'replace');
    for (const step of changes) {
      const { listed, before } = step.pair ?? {};
      if (listed && before) this.#current.set(step, { id: listed.id, before });
    }
    await this.#each(
      steps.filter(({ action }) => action === 'create'),
      (step) => this.#create(kind, step),
    );
    const ready = () => steps.filter((step) => this.#current.has(step));
    if (kind.loosen)
      await this.#each(ready(), async (step) => {
        const { id, before } = this.#currentOf(step);
        await kind.loosen?.(id, before, wantedOf(step), this.#context(kind, id));
      });
    await this.#changeAll(kind, ready());
  }

  async #create(kind: Kind, step: PlannedStep): Promise<void> {
    const { lock, names } = this.#survey;
    const entry = wantedOf(step);
    const digest = digestOfEntry(entry);
    const idempotencyKey = await lock.begin(entry, digest, randomUUID);
    const context = this.#context(kind, undefined, idempotencyKey);
    let made: { id: string; entry: Entry };
    try {
      made = await kind.create(entry, context);
    } catch (error) {
      if (isRefusal(error)) await lock.giveUp(kind.kind, entry.name);
      throw error;
    }
    names.set(kind.kind, entry.name, made.id);
    const isWhole = differencesOf(made.entry, entry).length === 0;
    await this.#note(kind, step, made.id, context.kept(), isWhole ? digest : undefined);
    this.result.created++;
    this.#options.progress(`+ ${kind.kind} ${JSON.stringify(entry.name)}`);
    if (!isWhole) this.#current.set(step, { id: made.id, before: made.entry });
  }

  /** A name may be free only after another thing has given it up: what was refused for its name is tried again while others succeed. */
  async #changeAll(kind: Kind, steps: readonly PlannedStep[]): Promise<void> {
    let waiting = [...steps];
    while (waiting.length > 0) {
      const refused: { step: PlannedStep; error: unknown }[] = [];
      const before = waiting.length;
      await this.#each(waiting, async (step) => {
        try {
          await this.#change(kind, step);
        } catch (error) {
          if (!(error instanceof GuildhallError && /_(NAME|SLUG|CODE)_TAKEN$/.test(error.code))) throw error;
          refused.push({ step, error });
        }
      });
      if (refused.length === before) {
        for (const { step, error } of refused) this.#fail(step, error);
        return;
      }
      waiting = refused.map(({ step }) => step);
    }
  }

  async #change(kind: Kind, step: PlannedStep): Promise<void> {
    const { lock, names } = this.#survey;
    const { id, before } = this.#currentOf(step);
    const wanted = wantedOf(step);
    // What is replaced is made: a repeated apply must find what an earlier one made.
    const key = step.action === 'replace' ? await lock.begin(wanted, digestOfEntry(wanted), randomUUID) : undefined;
    const context = this.#context(kind, id, key);
    const answer = await kind.change(id, before, wanted, context).catch(async (error) => {
      if (key !== undefined && isRefusal(error)) await lock.giveUp(kind.kind, wanted.name);
      throw error;
    });
    const newId = answer?.id ?? id;
    if (newId !== id) {
      // First the former id: a death between the two must not forget what is to be deleted.
      await lock.leaveObsolete(kind.kind, id, wanted.name);
      this.#replaced.set(id, newId);
      names.set(kind.kind, wanted.name, newId);
    }
    await this.#note(kind, step, newId, context.kept(), digestOfEntry(step.pair?.entry ?? wanted));
    if (step.action === 'create') return;
    this.result.changed++;
    this.#options.progress(`~ ${kind.kind} ${JSON.stringify(wanted.name)}`);
  }

  async publish(steps: readonly PlannedStep[]): Promise<void> {
    const failed = this.failedNames();
    const due = steps.filter(({ kind, name }) => !failed.has(thingKey(kind, name)));
    await this.#each(due, async (step) => {
      const { kind, entry } = step.pair ?? {};
      if (!kind?.publish || !entry) return;
      const id = this.#survey.names.idOf(kind.kind, entry.name);
      await kind.publish(id, wantedOf(step), this.#context(kind, id));
      this.result.published++;
      this.#options.progress(`published ${kind.kind} ${JSON.stringify(entry.name)}`);
    });
  }

  /** What replaced things leave behind is deleted as well, unless something that links to it failed. */
  async remove(steps: readonly PlannedStep[]): Promise<void> {
    const { lock, setting } = this.#survey;
    const planned = new Set(steps.map(({ id }) => id));
    const replaced = lock.obsolete
      .filter(({ id }) => !planned.has(id))
      .map(({ kind, id, name }): PlannedStep => ({ ...(EMPTY_STEP as PlannedStep), kind, id, name }));
    const kinds = setting.kinds.toReversed();
    const isObsolete = new Set(lock.obsolete.map(({ id }) => id));
    const hasFailures = this.result.failures.length > 0;
    for (const kind of kinds) {
      const due = [...steps, ...replaced].filter((step) => step.kind === kind.kind);
      await this.#each(due, async (step) => {
        const { id, name } = step;
        if (id === undefined || (isObsolete.has(id) && hasFailures)) return;
        await kind.remove?.(id, this.#context(kind, id));
        await lock.forget(kind.kind, id);
        this.result.deleted++;
        this.#options.progress(`- ${kind.kind} ${JSON.stringify(name)}`);
      });
    }
  }

  async #note(kind: Kind, step: PlannedStep, id: string, kept: JsonObject | undefined, digest: string | undefined) {
    const path = step.pair?.entry.path;
    const known = {
      id,
      ...(path !== undefined && { path }),
      ...(digest !== undefined && { digest }),
      ...(kept !== undefined && { kept }),
    };
    await this.#survey.lock.set(kind.kind, step.name, known);
  }

  /** A context whose `kept` is what the lock file has, until the kind remembers something else. */
  #context(
    kind: Kind,
    id: string | undefined,
    idempotencyKey: string = randomUUID(),
  ): ChangeContext & { kept(): JsonObject | undefined } {
    const { lock, names, setting } = this.#survey;
    const { prune, resendSecrets, secret } = this.#options;
    let kept = id === undefined ? undefined : lock.find(kind.kind, id)?.kept;
    return {
      api: setting.api,
      names,
      warn: setting.warn,
      prune,
      resendSecrets,
      secret,
      idempotencyKey,
      replaced: this.#replaced,
      known: (each) => {
        const known = lock.find(kind.kind, each);
        return each === id && known ? { ...known, ...(kept !== undefined && { kept }) } : known;
      },
      remember: (value) => {
        kept = value;
      },
      kept: () => kept,
    };
  }

  async #each(steps: readonly PlannedStep[], work: (step: PlannedStep) => Promise<void>): Promise<void> {
    await inParallel(steps, async (step) => {
      try {
        await work(step);
      } catch (error) {
        if (isEnd(error)) throw error;
        this.#fail(step, error);
      }
    });
  }

  #fail(step: PlannedStep, error: unknown): void {
    this.#current.delete(step);
    this.result.failures.push({ kind: step.kind, name: step.name, error });
    this.#options.progress(`! ${step.kind} ${JSON.stringify(step.name)}: ${(error as Error).message}`);
  }

  #currentOf(step: PlannedStep): { id: string; before: Entry } {
    const current = this.#current.get(step);
    if (!current) throw new Error(`${step.kind} ${step.name} was not read`);
    return current;
  }

  /** Kinds and names of what failed, each as `thingKey` makes it. */
  failedNames(): Set<string> {
    return new Set(this.result.failures.map(({ kind, name }) => thingKey(kind, name)));
  }
}

const EMPTY_STEP: Omit<PlannedStep, 'kind' | 'name'> = {
  action: 'delete',
  differences: [],
  publish: false,
  changedOnService: false,
};

function wantedOf({ wanted, kind, name }: PlannedStep): Entry {
  if (!wanted) throw new Error(`${kind} ${name} has no entry`);
  return wanted;
}
