import { fileURLToPath } from 'node:url';
import { API_PREFIX } from '../../generated/operations.ts';
import { runScript } from './children.ts';
import type { LatencyResult, LatencyTask } from './latencyClient.ts';
import { load } from './load.ts';
import type { Figure } from './report.ts';
import { median, quantile, spread } from './stats.ts';
import type { BenchServiceOptions, World } from './world.ts';

/** The script that measures latency as a client. */
export const CLIENT = fileURLToPath(new URL('./latencyClient.ts', import.meta.url));
/** Rounds with one connection, and requests in each. */
export const LATENCY_ROUNDS = 5;
export const LATENCY_REQUESTS = 400;
const CONNECTIONS = 16;
const RATE_ROUNDS = 5;
const RATE_SECONDS = 2;

/** Measures the latency of `sendMessage` minus that of the model, and messages a second. Every message must be stored. */
export async function measureMessages(
  world: World,
  options: { service?: BenchServiceOptions } = {},
): Promise<Figure[]> {
  const models = await world.startModels();
  const service = await world.startService({ ...options.service, modelUrl: models.url });
  const url = `${service.url}${API_PREFIX}/agents/${world.agentId}/messages`;
  const headers = { ...world.headers, 'content-type': 'application/json' };
  const before = await storedMessages(world);
  let sent = 0;

  const rounds: { p50: number; p99: number; service: number; direct: number }[] = [];
  for (let round = 0; round < LATENCY_ROUNDS; round += 1) {
    const warmUp = round === 0 ? 400 : 20;
    const task: LatencyTask = {
      service: { url, headers, body: world.message },
      direct: { ...world.modelRequest, url: models.url + world.modelRequest.path },
      warmUp,
      requests: LATENCY_REQUESTS,
    };
    const result = JSON.parse(await runScript(CLIENT, [], JSON.stringify(task))) as LatencyResult;
    sent += warmUp + LATENCY_REQUESTS;
    const difference = (share: number) => quantile(result.service, share) - quantile(result.direct, share);
    const [ofService, ofDirect] = [quantile(result.service, 0.5), quantile(result.direct, 0.5)];
    rounds.push({ p50: difference(0.5), p99: difference(0.99), service: ofService, direct: ofDirect });
  }

  const request = { url, method: 'POST', headers, body: world.message } as const;
  const rates: number[] = [];
  const slowest: number[] = [];
  for (let round = -1; round < RATE_ROUNDS; round += 1) {
    const { requests, perSecond, p99 } = await load(request, { connections: CONNECTIONS, seconds: RATE_SECONDS });
    sent += requests;
    if (round < 0) continue;
    rates.push(perSecond);
    slowest.push(p99);
  }
  await service.stop(); // waits for the turns that are still running after the load
  await checkStored(world, before, sent, (RATE_ROUNDS + 1) * CONNECTIONS);
  await models.stop();

  const p50s = rounds.map((round) => round.p50);
  const p99s = rounds.map((round) => round.p99);
  const [ofService, ofDirect] = [
    median(rounds.map((round) => round.service)),
    median(rounds.map((round) => round.direct)),
  ];
  return [
    {
      measure: 'messages',
      name: 'sendMessage over the model: p50',
      value: median(p50s),
      unit: 'ms',
      target: { limit: 3, is: 'at most' },
      note: `${ofService.toFixed(2)} ms less ${ofDirect.toFixed(2)} ms, one connection; rounds ${spread(p50s)}`,
    },
    {
      measure: 'messages',
      name: 'sendMessage over the model: p99',
      value: median(p99s),
      unit: 'ms',
      target: { limit: 10, is: 'at most' },
      note: `${LATENCY_REQUESTS} requests a round; rounds ${spread(p99s)}`,
    },
    {
      measure: 'messages',
      name: 'sendMessage, 16 connections',
      value: median(rates),
      unit: '/s',
      target: { limit: 300, is: 'at least' },
      note: `p99 ${median(slowest).toFixed(0)} ms; rounds ${spread(rates, 0)}; all ${sent} turns found in the database`,
    },
  ];
}

/** Numbers of messages and conversations in the database. */
export interface MessageCounts {
  users: number;
  assistants: number;
  finished: number;
}

/** Counts stored questions, answers with usage, and free conversations that have both. */
export async function storedMessages(world: World): Promise<MessageCounts> {
  const [row] = await world.query<{ users: string; assistants: string; finished: string }>(`
    select count(*) filter (where role = 'user') as users,
      count(*) filter (where role = 'assistant' and content = 'Hello from the model.' and output_tokens = 4) as assistants,
      (select count(*) from conversations where message_count = 2 and turn_id is null and output_tokens = 4) as finished
    from messages`);
  return { users: Number(row?.users), assistants: Number(row?.assistants), finished: Number(row?.finished) };
}

/**
 * Throws unless all `answered` turns are stored in addition to the rows before, each question with its answer. When a load ends, up to
 * `cut` more questions may be stored whose responses it did not wait for.
 */
export async function checkStored(world: World, before: MessageCounts, answered: number, cut: number): Promise<void> {
  const after = await storedMessages(world);
  const users = after.users - before.users;
  const [assistants, finished] = [after.assistants - before.assistants, after.finished - before.finished];
  if (users < answered || users > answered + cut || assistants !== users || finished !== users) {
    const stored = JSON.stringify({ users, assistants, finished });
    throw new Error(`${answered} messages were answered, but this was stored: ${stored}.`);
  }
}
