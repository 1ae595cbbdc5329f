import { dropStepPartitions } from '../db/dropPartitions.ts';
import { removeOldExecutions } from '../db/queries/automations/executions.ts';
import { removeOldReceipts } from '../db/queries/channels/deliveries.ts';
import { markSilent } from '../db/queries/channels/health.ts';
import { findSettledInbound, removeSettledInbound } from '../db/queries/channels/inboundMessages.ts';
import { removeExpiredClientTokens } from '../db/queries/clients/clientTokens.ts';
import { endPassedPauses } from '../db/queries/conversations/pause.ts';
import { removeOldMails } from '../db/queries/mails/mails.ts';
import { removeOldPaymentEvents } from '../db/queries/payments/events.ts';
import { removeOldPromptParts } from '../db/queries/turns/promptParts.ts';
import { addStepPartitions, findOldStepPartitions } from '../db/queries/turns/stepPartitions.ts';
import { removeExcessKeys, removeExpiredKeys } from '../db/queries/workspaces/idempotencyKeys.ts';
import type { FileStore } from '../integrations/storage/storage.ts';
import { forgetChats, forgetLiveReplies } from './chatUpkeep.ts';
import { purgeLogos } from './hubUpkeep.ts';
import type { JobContext } from './jobs.ts';
import { checkLedger, expireCredits, type LedgerWatch, releaseReservations } from './ledgerUpkeep.ts';
import { renewClients } from './renewClients.ts';

/** Something that processes with background work do over and over, and that no job follows. */
export interface Upkeep {
  name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  intervalMs: number;
  /** Returns when it is next of use, where that is known: if that is sooner than the interval, it runs at that time. */
  run(context: Pick<JobContext, 'database' | 'clock' | 'logger'>): Promise<void> | Promise<Date | undefined>;
}

/** What a workspace may keep: no workspace fills the database with answers. */
export const MAX_KEPT_ANSWERS = { records: 100_000, bytes: 256 * 1024 * 1024 };

/** Removes the answers to requests with an Idempotency-Key that are older than a day, or more than a workspace may keep. */
export const forgetAnswers: Upkeep = {
  name: 'forget-answers',
  intervalMs: 60_000,
  async run({ database, clock }) {
    await removeExpiredKeys(database.system, clock.now());
    await removeExcessKeys(database.system, MAX_KEPT_ANSWERS);
  },
};

/** Ends pauses of conversations at their time. They count as passed from then on in any case. */
export const endPauses: Upkeep = {
  name: 'end-pauses',
  intervalMs: 60_000,
  run: ({ database, clock }) => endPassedPauses(database.system, clock.now()),
};

/** Steps are looked after so often. Partitions are weeks, and those of the next weeks are there already. */
const STEPS_MS = 6 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** How long steps are kept, and how their table is reached. */
export interface StepsKept {
  /** Address of the database, with the login that owns the tables. */
  url: string;
  days: number;
}

/** Makes the partitions of steps for the next weeks, and drops those of which every turn began more than `days` ago. */
export function keepSteps({ url, days }: StepsKept): Upkeep {
  return {
    name: 'keep-steps',
    intervalMs: STEPS_MS,
    async run({ database, clock, logger }) {
      const now = clock.now();
      await addStepPartitions(database.system, now);
      const before = new Date(now.getTime() - days * DAY_MS);
      await removeOldPromptParts(database.system, before);
      const old = await findOldStepPartitions(database.system, before);
      if (old.length === 0) return;
      const dropped = await dropStepPartitions(url, old);
      logger.info({ dropped, left: old.length - dropped.length }, 'old steps were dropped');
    },
  };
}

/** Marks the channel connections that their provider has not called for a day: the address may be wrong there, or the number cut off. */
export const markSilentConnections: Upkeep = {
  name: 'mark-silent-connections',
  intervalMs: 10 * 60_000,
  async run({ database, clock, logger }) {
    const now = clock.now();
    const marked = await markSilent(database.system, new Date(now.getTime() - DAY_MS), now);
    if (marked > 0)
      logger.warn({ connections: marked }, 'the provider of channel connections has not called for a day');
  },
};

/** Removes what providers said of messages that turned out not to be ours. */
export const forgetReceipts: Upkeep = {
  name: 'forget-receipts',
  intervalMs: 60 * 60_000,
  run: ({ database, clock }) => removeOldReceipts(database.system, new Date(clock.now().getTime() - DAY_MS)),
};

/** Messages that were received over a channel are known for so many days after they were settled: longer than any provider sends them again. */
const INBOUND_DAYS = 30;

/** Mails are listed for so many days after they were sent or given up. */
const MAIL_DAYS = 30;

/** Removes what was known of mails that were sent, or given up, long ago. */
export const forgetMails: Upkeep = {
  name: 'forget-mails',
  intervalMs: 60 * 60_000,
  run: ({ database, clock }) => removeOldMails(database.system, new Date(clock.now().getTime() - MAIL_DAYS * DAY_MS)),
};

/** Messages that one round removes. */
const INBOUND_AT_ONCE = 500;

/** Removes what was received over channels and settled long ago, with its files. Failed messages can be replayed until then. */
export function forgetInbound(files: Pick<FileStore, 'delete'>): Upkeep {
  return {
    name: 'forget-inbound',
    intervalMs: 60 * 60_000,
    async run({ database: { system }, clock }) {
      const before = new Date(clock.now().getTime() - INBOUND_DAYS * DAY_MS);
      for (;;) {
        const old = await findSettledInbound(system, before, INBOUND_AT_ONCE);
        // The files first: a row that is left when the process dies is found again, and a file without a row never is.
        for (const key of old.flatMap(({ keys }) => keys)) await files.delete(key);
        if (old.length > 0) await removeSettledInbound(system, old, before);
        if (old.length < INBOUND_AT_ONCE) return;
      }
    },
  };
}

/** Applied events of the payment provider are kept for so many days: they have names and addresses of buyers. */
const PAYMENT_EVENT_DAYS = 90;

/** Removes events of the payment provider that were applied long ago. Failed ones stay, and can be applied again. */
export const forgetPaymentEvents: Upkeep = {
  name: 'forget-payment-events',
  intervalMs: 60 * 60_000,
  run: ({ database, clock }) =>
    removeOldPaymentEvents(database.system, new Date(clock.now().getTime() - PAYMENT_EVENT_DAYS * DAY_MS)),
};

/** Removes executions of automations that ended more than `days` ago. */
export function keepExecutions(days: number): Upkeep {
  return {
    name: 'keep-executions',
    intervalMs: 60 * 60_000,
    run: ({ database, clock }) => removeOldExecutions(database.system, new Date(clock.now().getTime() - days * DAY_MS)),
  };
}

/** Removes links and sessions of the users of clients that have expired. */
export const forgetClientTokens: Upkeep = {
  name: 'forget-client-tokens',
  intervalMs: 60 * 60_000,
  run: ({ database, clock }) => removeExpiredClientTokens(database.system, clock.now()),
};

/** Every upkeep, with the days for which executions of automations are kept, and where the check of the ledger notes its result. */
export const everyUpkeep = (
  steps: StepsKept,
  executionDays: number,
  files: FileStore,
  ledger: LedgerWatch,
): readonly Upkeep[] => [
  forgetAnswers,
  forgetLiveReplies,
  forgetChats(files),
  endPauses,
  renewClients,
  markSilentConnections,
  forgetReceipts,
  forgetPaymentEvents,
  forgetClientTokens,
  forgetInbound(files),
  keepSteps(steps),
  keepExecutions(executionDays),
  purgeLogos(files),
  releaseReservations,
  expireCredits,
  checkLedger(ledger),
];
