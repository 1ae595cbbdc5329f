import { fileURLToPath } from 'node:url';
import { newId } from '../../core/ids.ts';
import { connectDatabase } from '../../db/connect.ts';
import { insertAccount } from '../../db/queries/credits/accounts.ts';
import { insertLot } from '../../db/queries/credits/lots.ts';
import { inTransaction } from '../../db/transaction.ts';
import { API_PREFIX } from '../../generated/operations.ts';
import { runScript } from './children.ts';
import type { LatencyResult, LatencyTask } from './latencyClient.ts';
import { load } from './load.ts';
import type { Figure } from './report.ts';
import { median, quantile, spread } from './stats.ts';
import type { World } from './world.ts';

const CLIENT = fileURLToPath(new URL('./latencyClient.ts', import.meta.url));
const MEASURE = 'paying-messages';
const ROUNDS = 5;
const REQUESTS = 300;
const CONNECTIONS = 16;
const SECONDS = 2;
const CREDITS = 1_000_000;

/** Measures what a message costs more when a client pays for it: one at a time, and 16 at once, which all reserve on one account. */
export async function measurePayingMessages(world: World): Promise<Figure[]> {
  const { workspaceId } = world;
  const models = await world.startModels();
  const service = await world.startService({ modelUrl: models.url });
  const database = connectDatabase(world.databaseUrl, { poolSize: 1 });
  try {
    const clientId = await makeClient(database.system, workspaceId);
    const url = `${service.url}${API_PREFIX}/agents/${world.agentId}/messages`;
    const headers = { ...world.headers, 'content-type': 'application/json' };
    const free = world.message;
    const paid = JSON.stringify({ ...JSON.parse(free), metadata: { clientPublicId: clientId } });

    const ratios: number[] = [];
    const times: { free: number; paid: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const task: LatencyTask = {
        service: { url, headers, body: paid },
        direct: { url, headers, body: free },
        warmUp: round === 0 ? 200 : 20,
        requests: REQUESTS,
      };
      const result = JSON.parse(await runScript(CLIENT, [], JSON.stringify(task))) as LatencyResult;
      const [ofPaid, ofFree] = [quantile(result.service, 0.5), quantile(result.direct, 0.5)];
      times.push({ paid: ofPaid, free: ofFree });
      ratios.push(ofPaid / ofFree);
    }
    const rates: { free: number; paid: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const at = async (body: string) =>
        (await load({ url, method: 'POST', headers, body }, { connections: CONNECTIONS, seconds: SECONDS })).perSecond;
      rates.push({ free: await at(free), paid: await at(paid) });
    }
    await service.stop();
    await checkLedgerOf(world, clientId);
    const rateRatios = rates.map((rate) => rate.paid / rate.free);
    return [
      {
        measure: MEASURE,
        name: 'sendMessage of a paying client / of nobody: p50',
        value: median(ratios),
        unit: '',
        note: `${median(times.map((time) => time.paid)).toFixed(2)} ms against ${median(times.map((time) => time.free)).toFixed(2)} ms; rounds ${spread(ratios)}`,
      },
      {
        measure: MEASURE,
        name: 'the same, 16 connections of one client: rate',
        value: median(rateRatios),
        unit: '',
        note: `${median(rates.map((rate) => rate.paid)).toFixed(0)}/s against ${median(rates.map((rate) => rate.free)).toFixed(0)}/s; rounds ${spread(rateRatios)}`,
      },
    ];
  } finally {
    await database.end();
    await models.stop();
  }
}

async function makeClient(system: ReturnType<typeof connectDatabase>['system'], workspaceId: string): Promise<string> {
  const clientId = newId();
  const now = new Date();
  await inTransaction(system, async (trx) => {
    const client = { workspace_id: workspaceId, id: clientId, name: `Bench ${clientId}`, status: 'active' as const };
    await trx.insertInto('clients').values(client).execute();
    await insertAccount(trx, workspaceId, clientId, { isUnlimited: false, mayUseExtra: false });
    const lot = {
      workspaceId,
      clientId,
      source: 'grant' as const,
      amount: CREDITS,
      expiresAt: null,
      key: 'bench',
      now,
    };
    await insertLot(trx, lot);
  });
  return clientId;
}

/** Throws unless each answered message of the client has cost it one credit, and nothing is left reserved. */
async function checkLedgerOf(world: World, clientId: string): Promise<void> {
  const [row] = await world.query<{
    used: string;
    included: string;
    reserved: string;
    entries: string;
    replies: string;
  }>(`
    select used_this_period as used, included, reserved,
      (select -sum(amount) from credit_entries where client_id = '${clientId}' and kind = 'use') as entries,
      (select sum(cost_ops) from messages m join conversations c on c.id = m.conversation_id where c.client_id = '${clientId}') as replies
    from credit_accounts where client_id = '${clientId}'`);
  const [used, included, reserved, entries, replies] = [
    row?.used,
    row?.included,
    row?.reserved,
    row?.entries,
    row?.replies,
  ].map(Number);
  if (used !== entries || used !== replies || reserved !== 0 || included !== CREDITS - (used ?? 0))
    throw new Error(`The ledger of the bench's client does not add up: ${JSON.stringify(row)}`);
}
