// The rules of plans, periods and credits once more, in plain code that uses nothing of the project's.

/** What a plan gives. */
export interface PlanRules {
  id: string;
  oneTime: boolean;
  months: number;
  credits: number;
  bonus: number;
  /** Months after which credits are given anew; null = they are given once. */
  every: number | null;
  unlimited: boolean;
  extra: boolean;
  price: number;
}

interface Lot {
  source: 'plan' | 'package' | 'grant' | 'extra';
  key: string;
  amount: number;
  left: number;
  lost: number;
  expires: number | null;
}

/** A client as the rules have it. */
export interface ModelClient {
  offset: number;
  status: 'pending_onboarding' | 'active' | 'trialing' | 'past_due' | 'suspended' | 'canceled';
  plan: PlanRules | null;
  start: number | null;
  end: number | null;
  anchor: number | null;
  next: number | null;
  pending: { plan: PlanRules; at: number } | null;
  subscription: string | null;
  coupon: string | null;
  lots: Lot[];
  used: number;
  keys: Set<string>;
}

const DAY = 86_400_000;

/** A client without a plan, in a zone that is `offset` milliseconds ahead of UTC. */
export const newClient = (offset: number): ModelClient => ({
  offset,
  status: 'pending_onboarding',
  plan: null,
  start: null,
  end: null,
  anchor: null,
  next: null,
  pending: null,
  subscription: null,
  coupon: null,
  lots: [],
  used: 0,
  keys: new Set(),
});

/** So many months later by the clocks of the zone; the last day of a shorter month. */
export function monthsLater(from: number, months: number, offset: number): number {
  const local = new Date(from + offset);
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth() + months];
  const day = Math.min(local.getUTCDate(), new Date(Date.UTC(year, month + 1, 0)).getUTCDate());
  return Date.UTC(year, month, day) + ((from + offset) % DAY) - offset;
}

function multipleAfter(anchor: number, every: number, after: number, offset: number): number {
  for (let round = 0; ; round += 1) {
    const at = monthsLater(anchor, round * every, offset);
    if (at > after) return at;
  }
}

const sum = (lots: readonly Lot[]) => lots.reduce((total, { left }) => total + left, 0);
/** What is left of the included and of the bought credits. */
export const balances = ({ lots, used }: ModelClient) => ({
  included: sum(lots.filter(({ source }) => source !== 'extra')),
  extra: sum(lots.filter(({ source }) => source === 'extra')),
  used,
});

const isOfPeriod = ({ source, expires }: Lot) => (source === 'plan' || source === 'package') && expires !== null;

/** What is left of the period's credits is over. A debt takes from it, and what the debt leaves stays. */
function closePeriodLots(client: ModelClient): void {
  const open = client.lots.filter((lot) => isOfPeriod(lot) && lot.left !== 0);
  const owed = Math.min(0, sum(open));
  const debtor = open.toSorted((one, other) => one.left - other.left)[0];
  for (const lot of open) {
    const left = lot === debtor ? owed : 0;
    if (left < lot.left) lot.lost += lot.left - left;
    lot.left = left;
  }
}

export function give(
  client: ModelClient,
  source: Lot['source'],
  key: string,
  amount: number,
  expires: number | null,
): void {
  if (amount === 0 || client.lots.some((lot) => lot.key === key && lot.source === source)) return;
  client.lots.push({ source, key, amount, left: amount, lost: 0, expires });
}

/** Gives a plan's credits in place of what is left, as of `from`. */
function giveIncluded(client: ModelClient, key: string, from: number, credits?: number): void {
  const { plan, anchor, start, end, status, offset } = client;
  if (!plan || anchor === null || start === null) throw new Error('There is no period.');
  closePeriodLots(client);
  client.next = null;
  if (plan.every !== null && !plan.unlimited && plan.credits > 0) {
    let next =
      from < anchor
        ? Math.min(multipleAfter(start, plan.every, from, offset), anchor)
        : multipleAfter(anchor, plan.every, from, offset);
    if (client.subscription && end !== null && Math.abs(next - end) < DAY) next = end;
    const goesOn = end === null || (!plan.oneTime && status !== 'trialing');
    client.next = end !== null && next >= end && !goesOn ? null : next;
  }
  if (plan.unlimited) return;
  const expires = client.next ?? (plan.every !== null || status === 'trialing' ? end : null);
  give(client, 'plan', key, credits ?? plan.credits, expires);
  if (credits === undefined) give(client, 'package', key, plan.bonus, expires);
}

interface NewPeriod {
  start: number;
  end: number | null;
  anchor: number;
}

function beginPlan(client: ModelClient, plan: PlanRules, key: string, period: NewPeriod, credits?: number): void {
  Object.assign(client, { plan, pending: null, ...period, used: 0 });
  giveIncluded(client, key, period.start, credits);
}

const endOfFirst = (plan: PlanRules, start: number, offset: number) =>
  plan.oneTime ? null : monthsLater(start, plan.months, offset);

/** Whether the cause is new, which it is no longer afterwards. */
const isNew = ({ keys }: ModelClient, key: string) => !keys.has(key) && keys.add(key) !== undefined;

type Started = { subscriptionId: string; start: number; end: number };

export function start(
  client: ModelClient,
  plan: PlanRules,
  {
    key,
    at,
    status,
    credits,
    end,
    provider,
    coupon = null,
  }: {
    key: string;
    at: number;
    status: 'active' | 'trialing';
    credits?: number | undefined;
    end?: number | undefined;
    provider?: Started | undefined;
    coupon?: string | null;
  },
): void {
  if (status === 'trialing' && client.status !== 'pending_onboarding') return;
  if (client.keys.has(key) || (provider && client.subscription === provider.subscriptionId)) return;
  client.keys.add(key);
  const from = provider?.start ?? at;
  const until = provider?.end ?? end ?? endOfFirst(plan, from, client.offset);
  const isSuspended = client.status === 'suspended';
  client.subscription = provider?.subscriptionId ?? null;
  client.status = status;
  beginPlan(client, plan, key, { start: from, end: until, anchor: provider ? from : (end ?? from) }, credits);
  if (isSuspended) client.status = 'suspended';
  client.coupon = coupon;
}

export function renew(client: ModelClient, { key, from, until }: { key: string; from: number; until: number }): void {
  if (!['active', 'past_due', 'suspended'].includes(client.status) || client.keys.has(key)) return;
  const { plan, offset } = client;
  const slack = client.subscription ? DAY : 0;
  const ahead = from - (client.start ?? 0);
  if (!plan || ahead < -slack) return;
  client.keys.add(key);
  if (client.status === 'past_due') client.status = 'active';
  if (ahead <= slack) {
    if (client.end !== null && until > client.end) client.end = until;
    return;
  }
  if (client.pending && client.pending.at <= from + slack) {
    const { plan: other } = client.pending;
    beginPlan(client, other, key, {
      start: from,
      end: client.subscription ? until : endOfFirst(other, from, offset),
      anchor: from,
    });
    return;
  }
  if (client.subscription && client.anchor !== null) {
    const counted = multipleAfter(client.anchor, plan.months, from - DAY, offset);
    if (Math.abs(counted - from) > DAY) client.anchor = from;
  }
  Object.assign(client, { start: from, end: until, used: 0 });
  if (client.next !== null && client.next <= from + slack) giveIncluded(client, key, from + slack);
}

/** What is due by itself until now. */
export function advance(client: ModelClient, now: number): void {
  for (;;) {
    if (!['active', 'trialing'].includes(client.status)) return;
    const credits = client.next !== null && client.next < (client.end ?? Infinity) ? client.next : Infinity;
    const period = client.subscription === null && client.end !== null ? client.end : Infinity;
    const due = Math.min(credits, period);
    if (due > now) return;
    if (credits < period) giveIncluded(client, `credits:${new Date(due).toISOString()}`, due);
    else if ((client.status === 'active' && !client.plan?.oneTime) || client.pending) {
      const until = multipleAfter(client.anchor ?? due, Math.max(1, client.plan?.months ?? 1), due, client.offset);
      renew(client, { key: `period:${new Date(due).toISOString()}`, from: due, until });
    } else cancel(client, `end:${due}`);
  }
}

export function cancel(client: ModelClient, key: string): void {
  if (client.status === 'canceled' || !isNew(client, key)) return;
  client.pending = null;
  if (client.status === 'suspended') {
    client.subscription = null;
    return;
  }
  client.status = 'canceled';
  closePeriodLots(client);
  client.next = null;
}

/** One status after another, if the client has it and the cause is new. */
export function turn(
  client: ModelClient,
  key: string,
  from: ModelClient['status'],
  to: ModelClient['status'],
): boolean {
  if (client.status !== from || !isNew(client, key)) return false;
  client.status = to;
  return true;
}

export function resume(client: ModelClient, key: string, now: number): void {
  if (
    turn(client, key, 'suspended', 'active') &&
    client.subscription === null &&
    client.end !== null &&
    client.end <= now
  ) {
    const plan = client.pending?.plan ?? client.plan;
    if (plan) beginPlan(client, plan, key, { start: now, end: endOfFirst(plan, now, client.offset), anchor: now });
  }
  advance(client, now);
}

const mayChange = ({ status }: ModelClient) => ['active', 'past_due', 'suspended'].includes(status);

export function changeLater(client: ModelClient, plan: PlanRules, key: string, now: number): void {
  if (!mayChange(client) || !isNew(client, key)) return;
  if (plan === client.plan) client.pending = null;
  else if (client.end === null) change(client, plan, key, now);
  else client.pending = { plan, at: client.end };
}

export function changeNow(client: ModelClient, plan: PlanRules, key: string, now: number, provider?: Started): void {
  if (!mayChange(client) || !isNew(client, key)) return;
  if (plan === client.plan) client.pending = null;
  else change(client, plan, key, now, provider);
}

function change(client: ModelClient, plan: PlanRules, key: string, now: number, provider?: Started): void {
  const isSame = client.plan?.oneTime === plan.oneTime && client.plan.months === plan.months;
  const goesOn = isSame && (!provider || Math.abs(provider.start - (client.start ?? 0)) <= DAY);
  if (goesOn) {
    if (provider) client.end = provider.end;
    Object.assign(client, { plan, pending: null });
    giveIncluded(client, key, now);
    return;
  }
  const from = provider?.start ?? now;
  beginPlan(client, plan, key, {
    start: from,
    end: provider?.end ?? endOfFirst(plan, from, client.offset),
    anchor: from,
  });
}

/** A payment was given back: what it gave is taken, used or not, unless it has expired. */
export function takeBack(client: ModelClient, grantKey: string, key: string): void {
  const lots = client.lots.filter((lot) => lot.key === grantKey && lot.amount > lot.lost);
  if (lots.length === 0 || !isNew(client, `reversal ${key}`)) return;
  for (const lot of lots) {
    lot.left -= lot.amount - lot.lost;
    lot.lost = lot.amount;
  }
}

/** Grants whose time has passed are over. */
export function expire(client: ModelClient, now: number): void {
  for (const lot of client.lots)
    if (
      lot.source !== 'plan' &&
      lot.source !== 'package' &&
      lot.expires !== null &&
      lot.expires <= now &&
      lot.left > 0
    ) {
      lot.lost += lot.left;
      lot.left = 0;
    }
}

/** A message: included credits before bought ones, of each the soonest expiring first, then what was given before what was paid. */
export function message(client: ModelClient, cost: number, dies: boolean): 'done' | 'refused' {
  const { included, extra } = balances(client);
  const mayUseExtra = client.plan?.extra === true;
  const available = included + (mayUseExtra || extra < 0 ? extra : 0);
  const isUnlimited = client.plan?.unlimited === true;
  if (!['active', 'trialing'].includes(client.status) || (!isUnlimited && available < 1)) return 'refused';
  if (dies) return 'done';
  client.used += cost;
  if (isUnlimited) return 'done';
  const rank = { grant: 0, package: 0, plan: 1, extra: 2 };
  const order = client.lots
    .filter((lot) => lot.left > 0 && (lot.source !== 'extra' || mayUseExtra))
    .toSorted(
      (one, other) =>
        Number(one.source === 'extra') - Number(other.source === 'extra') ||
        (one.expires ?? Infinity) - (other.expires ?? Infinity) ||
        rank[one.source] - rank[other.source],
    );
  let owed = cost;
  for (const lot of order) {
    const taken = Math.min(owed, lot.left);
    lot.left -= taken;
    owed -= taken;
  }
  return 'done';
}
