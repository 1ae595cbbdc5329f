import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { newId } from '../../../core/ids.ts';
import { findDueClients } from '../../../db/queries/clients/clientsAnywhere.ts';
import { waitingClient } from '../../domain/clients/life.ts';
import { adminQuery, createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { storePlan } from '../../support/hub/storedPlans.ts';
import { poll } from '../../support/poll.ts';
import { factsOf, storedFacts } from './facts.ts';
import * as model from './model.ts';
import { type Operation, type Outcome, type ProvidersPeriod, perform } from './operations.ts';

const DAY = 86_400_000;
const FIRST_DAY = Date.UTC(2027, 0, 31);
/** Zones without summer time, and how far they are ahead of UTC in hours. */
const ZONES: readonly [string, number][] = [
  ['UTC', 0],
  ['UTC', 0],
  ['Asia/Kolkata', 5.5],
  ['Asia/Tokyo', 9],
  ['America/Sao_Paulo', -3],
];

/** Random numbers from 0 to 1: the same seed gives the same ones (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Hub extends SeededWorkspace {
  offset: number;
  agent: string;
  plans: model.PlanRules[];
  coupon: { id: string; code: string; percent: number; left: number; used: number };
}

interface Subscription {
  id: string;
  anchor: number;
  months: number;
  start: number;
  end: number;
  /** Of a payment that failed: when it is made, or null when it never is. */
  retryAt?: number | null;
}

interface Actor {
  hub: Hub;
  id: string;
  rules: model.ModelClient;
  subscription: Subscription | null;
  /** What its provider told, with what the rules make of it. */
  told: { operation: Operation; apply(): void }[];
}

/** An operation, and what the rules say of it. */
interface Step {
  operation: Operation;
  expected: Outcome;
}

/** What is particular to an operation. */
type Omitted = { kind: Operation['kind'] } & Record<string, unknown>;

/** How large a year is. */
export interface YearOptions {
  seed: number;
  hubs: number;
  clientsOfHub: number;
  /** Days on which a process does the work and is killed at it. */
  kills: number;
}

/** What a year had, for a report. */
export interface YearCount {
  operations: number;
  charged: number;
  refused: number;
  killed: number;
  repeated: number;
}

const PLANS: readonly Omit<model.PlanRules, 'id'>[] = [
  { oneTime: false, months: 1, credits: 12, bonus: 3, every: 1, unlimited: false, extra: false, price: 4900 },
  { oneTime: false, months: 1, credits: 30, bonus: 0, every: null, unlimited: false, extra: true, price: 9901 },
  { oneTime: false, months: 3, credits: 9, bonus: 2, every: 1, unlimited: false, extra: true, price: 12_345 },
  { oneTime: false, months: 12, credits: 20, bonus: 0, every: 2, unlimited: false, extra: false, price: 99_999 },
  { oneTime: false, months: 1, credits: 0, bonus: 0, every: null, unlimited: true, extra: false, price: 19_900 },
  { oneTime: false, months: 2, credits: 25, bonus: 5, every: 3, unlimited: false, extra: true, price: 7 },
  { oneTime: true, months: 0, credits: 40, bonus: 0, every: 1, unlimited: false, extra: false, price: 5000 },
];

async function makeHub(setting: TestDatabase, [zone, hours]: readonly [string, number]): Promise<Hub> {
  const workspace = await setting.seedWorkspace();
  const { workspaceId, db } = workspace;
  await setting.database.system
    .updateTable('workspaces')
    .set({ time_zone: zone })
    .where('id', '=', workspaceId)
    .execute();
  const plans: model.PlanRules[] = [];
  for (const plan of PLANS) {
    const { credits, bonus, every } = plan;
    const id = await storePlan(workspace, {
      billing_type: plan.oneTime ? 'one_time' : 'recurring',
      billing_interval_months: plan.months,
      price_cents: plan.price,
      unlimited_credits: plan.unlimited,
      extra_credits_enabled: plan.extra,
      credits:
        credits === 0
          ? null
          : { credits_amount: credits, extra_credits_amount: bonus || null, renewal_interval_months: every },
    });
    plans.push({ ...plan, id });
  }
  const coupon = { id: newId(), code: 'YEAR', percent: 15, left: 4, used: 0 };
  const fields = {
    workspace_id: workspaceId,
    id: coupon.id,
    code: coupon.code,
    discount_type: 'percentage' as const,
    discount_value: coupon.percent,
  };
  await db
    .insertInto('coupons')
    .values({
      ...fields,
      duration: 'forever',
      scope: 'hub',
      max_uses: coupon.left,
      valid_from: new Date(FIRST_DAY - DAY),
    })
    .execute();
  const agent = newId();
  await db.insertInto('agents').values({ workspace_id: workspaceId, id: agent, name: agent }).execute();
  return { ...workspace, offset: hours * 3_600_000, agent, plans, coupon };
}

/** Lives through a year, and compares everything with the rules at the end of each month. Throws at the first difference. */
export async function liveYear(options: YearOptions): Promise<YearCount> {
  const setting = await createTestDatabase();
  try {
    return await new Year(setting, options).live();
  } finally {
    await setting.drop();
  }
}

class Year {
  readonly #random: () => number;
  readonly #actors: Actor[] = [];
  readonly #count: YearCount = { operations: 0, charged: 0, refused: 0, killed: 0, repeated: 0 };
  readonly setting: TestDatabase;
  readonly options: YearOptions;

  constructor(setting: TestDatabase, options: YearOptions) {
    this.setting = setting;
    this.options = options;
    this.#random = randomOf(options.seed);
  }

  #chance = (probability: number) => this.#random() < probability;
  #below = (count: number) => Math.floor(this.#random() * count);
  #oneOf = <Item>(items: readonly Item[]): Item => items[this.#below(items.length)] as Item;

  async live(): Promise<YearCount> {
    const { hubs, clientsOfHub, kills } = this.options;
    for (let hub = 0; hub < hubs; hub += 1) {
      const made = await makeHub(this.setting, ZONES[hub % ZONES.length] ?? ['UTC', 0]);
      for (let each = 0; each < clientsOfHub; each += 1) {
        const { id } = await waitingClient(made);
        this.#actors.push({ hub: made, id, rules: model.newClient(made.offset), subscription: null, told: [] });
      }
    }
    const killed = new Set(Array.from({ length: kills }, () => this.#below(365)));
    for (let day = 0; day < 365; day += 1) {
      const at = FIRST_DAY + day * DAY + this.#below(DAY);
      const due = this.#chance(0.85) ? await this.#due(at) : null;
      const work = this.#actors.map((actor) => this.#dayOf(actor, at, due));
      if (killed.has(day)) await this.#doAndDie(work.flat());
      else await Promise.all(work.map((each) => this.#doAll(each)));
      if (day % 30 === 29 || day === 364) await this.#compare(`day ${day}`);
    }
    return this.#count;
  }

  /** The clients that the service finds due. */
  async #due(at: number): Promise<ReadonlySet<string>> {
    const { due } = await findDueClients(this.setting.database.system, new Date(at), { limit: 1_000, except: [] });
    return new Set(due.map(({ id }) => id));
  }

  /** What happens to a client on a day, with what the rules say of it. Nobody looks for what is due where `due` is null. */
  #dayOf(actor: Actor, at: number, due: ReadonlySet<string> | null): Step[] {
    const { rules } = actor;
    const steps: Step[] = [];
    if (due) {
      model.advance(rules, at);
      model.expire(rules, at);
      if (due.has(actor.id)) steps.push(this.#step(actor, at, { kind: 'advance' }));
      steps.push(this.#step(actor, at, { kind: 'expire' }));
    }
    this.#billed(actor, at, steps);
    if (this.#chance(rules.status === 'pending_onboarding' ? 0.1 : 0.05)) this.#changed(actor, at, steps);
    if (actor.told.length > 0 && this.#chance(0.05)) {
      // The provider tells what it has told before.
      const again = this.#oneOf(actor.told);
      again.apply();
      steps.push({ operation: again.operation, expected: 'done' });
      this.#count.repeated += 1;
    }
    if (this.#chance(0.35)) {
      const [cost, dies] = [1 + this.#below(3), this.#chance(0.05)];
      const expected = model.message(rules, cost, dies);
      if (expected === 'refused') this.#count.refused += 1;
      else if (!dies) this.#count.charged += cost;
      const { agent } = actor.hub;
      const ids = { agent, turn: newId(), conversation: newId() };
      steps.push(this.#step(actor, at, { kind: 'message', ...ids, cost, dies }, expected));
    }
    return steps;
  }

  #step(actor: Actor, at: number, what: Omitted, expected: Outcome = 'done', key: string = newId()): Step {
    const operation = { workspaceId: actor.hub.workspaceId, client: actor.id, at, key, ...what } as Operation;
    return { operation, expected };
  }

  /** What the provider of a subscription tells: payments that are made, fail, are made later, or never. */
  #billed(actor: Actor, at: number, steps: Step[]): void {
    const { rules, subscription } = actor;
    if (!subscription || rules.subscription !== subscription.id || rules.status === 'canceled') return;
    const tell = (what: Omitted, apply: (key: string) => void) => {
      const key = newId();
      const step = this.#step(actor, at, what, 'done', key);
      const told = { operation: step.operation, apply: () => apply(key) };
      told.apply();
      steps.push(step);
      actor.told.push(told);
    };
    if (subscription.retryAt === undefined && subscription.end <= at) {
      if (this.#chance(0.2)) {
        subscription.retryAt = this.#chance(0.7) ? at + 3 * DAY : null;
        tell({ kind: 'past_due' }, (key) => model.turn(rules, key, 'active', 'past_due'));
        return;
      }
      subscription.retryAt = at;
    }
    if (subscription.retryAt === null) {
      if (at < subscription.end + 7 * DAY) return;
      tell({ kind: 'cancel' }, (key) => model.cancel(rules, key));
      actor.subscription = null;
      return;
    }
    if (subscription.retryAt === undefined || subscription.retryAt > at) return;
    const start = subscription.end;
    if (rules.pending && rules.pending.at <= start + DAY) {
      subscription.anchor = start;
      subscription.months = rules.pending.plan.months;
    }
    let end = start;
    for (let round = 1; end <= start; round += 1)
      end = model.monthsLater(subscription.anchor, round * subscription.months, 0);
    Object.assign(subscription, { start, end, retryAt: undefined });
    tell({ kind: 'renew', start, end }, (key) => model.renew(rules, { key, from: start, until: end }));
  }

  /** What somebody decides. */
  #changed(actor: Actor, at: number, steps: Step[]): void {
    const { rules, hub } = actor;
    const key = newId();
    const push = (what: Omitted) => steps.push(this.#step(actor, at, what, 'done', key));
    if (rules.status === 'pending_onboarding' || rules.status === 'canceled') {
      this.#bought(actor, at, push, key);
      return;
    }
    switch (this.#below(9)) {
      case 0: {
        model.turn(rules, key, 'active', 'suspended');
        return void push({ kind: 'suspend' });
      }
      case 1:
      case 2: {
        // A suspended client that comes back.
        model.resume(rules, key, at);
        return void push({ kind: 'resume' });
      }
      case 3: {
        const plan = this.#oneOf(hub.plans.filter(({ oneTime }) => !oneTime));
        model.changeLater(rules, plan, key, at);
        return void push({ kind: 'change_later', plan: plan.id });
      }
      case 4: {
        const plan = this.#oneOf(hub.plans.filter(({ oneTime }) => !oneTime));
        const provider = this.#moved(actor, plan, at);
        model.changeNow(rules, plan, key, at, provider);
        return void push({ kind: 'change_now', plan: plan.id, ...(provider ? { provider } : {}) });
      }
      case 5:
      case 6: {
        const amount = 1 + this.#below(20);
        const source = this.#chance(0.5) ? 'extra' : 'grant';
        const expiresAt = source === 'grant' && this.#chance(0.5) ? at + (1 + this.#below(60)) * DAY : null;
        model.give(rules, source, key, amount, expiresAt);
        return void push({ kind: 'grant', source, amount, expiresAt });
      }
      case 7: {
        // A refund of something that was bought or paid lately.
        const grantKey = rules.lots.at(-1)?.key;
        if (grantKey === undefined) return;
        model.takeBack(rules, grantKey, key);
        return void push({ kind: 'reverse', grantKey });
      }
      default: {
        if (actor.subscription) return;
        model.cancel(rules, key);
        return void push({ kind: 'cancel' });
      }
    }
  }

  #bought(actor: Actor, at: number, push: (what: Omitted) => void, key: string): void {
    const { rules, hub } = actor;
    const isProviders = hub.offset === 0 && this.#chance(0.5);
    const plan = this.#oneOf(isProviders ? hub.plans.filter(({ oneTime }) => !oneTime) : hub.plans);
    const status = !isProviders && rules.status === 'pending_onboarding' && this.#chance(0.3) ? 'trialing' : 'active';
    const end = status === 'trialing' ? at + 14 * DAY : !plan.oneTime && this.#chance(0.2) ? at + 10 * DAY : undefined;
    const credits = this.#chance(0.2) ? this.#below(30) : undefined;
    actor.subscription = null;
    let provider: ProvidersPeriod | undefined;
    if (isProviders) {
      const until = model.monthsLater(at, plan.months, 0);
      actor.subscription = { id: `sub-${key}`, anchor: at, months: plan.months, start: at, end: until };
      provider = { subscriptionId: actor.subscription.id, start: at, end: until };
    }
    const isRedeemed = this.#chance(0.3) && hub.coupon.left > 0;
    if (isRedeemed) {
      hub.coupon.left -= 1;
      hub.coupon.used += 1;
    }
    const coupon = isRedeemed ? hub.coupon.code : undefined;
    const given = isProviders ? undefined : end;
    model.start(rules, plan, {
      key,
      at,
      status,
      credits,
      end: given,
      provider,
      coupon: isRedeemed ? hub.coupon.id : null,
    });
    push({
      kind: 'start',
      plan: plan.id,
      status,
      ...(credits === undefined ? {} : { credits }),
      ...(given === undefined ? {} : { end: given }),
      ...(provider ? { provider } : {}),
      ...(coupon ? { coupon } : {}),
    });
  }

  /** The provider's period after a change of plan now; undefined without a provider. */
  #moved({ rules, subscription }: Actor, plan: model.PlanRules, at: number): ProvidersPeriod | undefined {
    if (!subscription || rules.subscription !== subscription.id || subscription.retryAt !== undefined) return undefined;
    if (!['active', 'past_due', 'suspended'].includes(rules.status)) return undefined;
    if (plan !== rules.plan && rules.plan?.months !== plan.months)
      Object.assign(subscription, {
        anchor: at,
        months: plan.months,
        start: at,
        end: model.monthsLater(at, plan.months, 0),
      });
    return { subscriptionId: subscription.id, start: subscription.start, end: subscription.end };
  }

  async #doAll(steps: readonly Step[]): Promise<void> {
    for (const { operation, expected } of steps) {
      const outcome = await perform(this.setting.database, operation);
      this.#count.operations += 1;
      if (outcome !== expected) throw new Error(`${expected} expected, not ${outcome}: ${JSON.stringify(operation)}`);
    }
  }

  /** A process does the work, and is killed at it. What it has not told as done is done again. */
  async #doAndDie(steps: readonly Step[]): Promise<void> {
    const program = fileURLToPath(new URL('operations.ts', import.meta.url));
    const child = spawn(process.execPath, [program, '--worker', this.setting.url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    const lines = this.#below(steps.length);
    let told = '';
    child.stdout.on('data', (chunk) => {
      told += String(chunk);
      if (told.split('\n').length > lines) child.kill('SIGKILL');
    });
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(steps.map(({ operation }) => operation)));
    await exited;
    this.#count.killed += 1;
    const outcomes = told.split('\n').slice(0, -1);
    steps.slice(0, outcomes.length).forEach(({ operation, expected }, index) => {
      if (outcomes[index] !== expected) throw new Error(`${expected} expected: ${JSON.stringify(operation)}`);
    });
    // Its last statement may still run.
    await poll(
      () =>
        adminQuery<{ busy: number }>(
          `select count(*)::int as busy from pg_stat_activity where datname = '${this.setting.name}' and state = 'active'`,
        ),
      ([row]) => row?.busy === 0,
    );
    await this.#doAll(steps.slice(outcomes.length));
  }

  /** Everything that is stored, against the rules. */
  async #compare(when: string): Promise<void> {
    const hubs = new Set(this.#actors.map(({ hub }) => hub));
    for (const hub of hubs) {
      const mine = this.#actors.filter((actor) => actor.hub === hub);
      const stored = await storedFacts(hub);
      for (const { id, rules } of mine) {
        const wanted = JSON.stringify(factsOf(rules));
        const found = JSON.stringify(stored.clients.get(id));
        if (wanted !== found) throw new Error(`${when}: client ${id} is\n${found}, and by the rules\n${wanted}`);
      }
      if (stored.timesUsed !== hub.coupon.used)
        throw new Error(`${when}: the coupon was used ${stored.timesUsed} times, and by the rules ${hub.coupon.used}`);
      if (stored.unequal.length > 0) throw new Error(`${when}: sums differ: ${JSON.stringify(stored.unequal)}`);
    }
  }
}
