import { API_PREFIX } from '../../generated/operations.ts';
import { runScript } from './children.ts';
import type { LatencyResult, LatencyTask, Target } from './latencyClient.ts';
import { CLIENT, LATENCY_REQUESTS, LATENCY_ROUNDS } from './messages.ts';
import { CALL_PLEASE } from './modelServer.ts';
import type { Figure } from './report.ts';
import { makeRichAgent, USER } from './richAgent.ts';
import { median, quantile, spread } from './stats.ts';
import { tapDatabase } from './wire.ts';
import type { BenchServiceOptions, World } from './world.ts';

const WARM_UP = 12;
const PRIVATE = { GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true' };

/** For each round, p50 of the service minus p50 of the server that it is compared with. */
async function differences(
  service: Target,
  direct: Target,
): Promise<{ over: number[]; service: number; direct: number }> {
  const results: LatencyResult[] = [];
  for (let round = 0; round < LATENCY_ROUNDS; round += 1) {
    const task: LatencyTask = { service, direct, warmUp: round === 0 ? 400 : 20, requests: LATENCY_REQUESTS };
    results.push(JSON.parse(await runScript(CLIENT, [], JSON.stringify(task))) as LatencyResult);
  }
  const p50 = (of: keyof LatencyResult) => results.map((result) => quantile(result[of], 0.5));
  const [ofService, ofDirect] = [p50('service'), p50('direct')];
  const over = ofService.map((value, round) => value - (ofDirect[round] ?? 0));
  return { over, service: median(ofService), direct: median(ofDirect) };
}

/** Measures the latency of a turn of an agent with every kind of link, minus the calls of its model and its tool. */
export async function measureRuntime(world: World, options: { service?: BenchServiceOptions } = {}): Promise<Figure[]> {
  const { timedModels: models } = world;
  const tap = await tapDatabase(world.databaseUrl);
  const maker = await world.startService({ env: PRIVATE });
  const rich = await makeRichAgent(world, maker.url, world.modelId);
  await maker.stop();
  // The role without the queue, which would add round trips.
  let service = await world.startService({ env: { ...PRIVATE, DATABASE_URL: tap.url, GUILDHALL_ROLE: 'api' } });
  const path = `${API_PREFIX}/agents/${rich.agentId}/messages`;
  const headers = { ...world.headers, 'content-type': 'application/json' };
  const question = 'Can I return order 4711 within thirty days?';
  const send = async (body: object) => {
    const response = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { conversationId: string };
  };

  // Often enough that caches are filled, and statements are prepared on every connection.
  const beforeModel: Record<string, number> = {};
  const count = async (name: string, body: () => object) => {
    for (let i = 0; i < WARM_UP; i += 1) {
      await tap.during(async () => {
        models.onRequest = () => {
          beforeModel[name] = tap.roundTrips();
        };
        await send(body());
      });
    }
    models.onRequest = () => {};
  };
  await count('new conversation', () => ({ content: question, externalUserId: USER }));
  const modelBody = models.last.body;
  const { conversationId } = await send({ content: question, externalUserId: USER });
  await count('continued', () => ({ content: question, conversationId }));
  await service.stop();
  await tap.close();

  service = await world.startService({ ...options.service, env: { ...PRIVATE, ...options.service?.env } });
  const model: Target = { url: models.url + models.last.path, headers: world.modelRequest.headers, body: modelBody };
  const message = (content: string): Target => ({
    url: service.url + path,
    headers,
    body: JSON.stringify({ content, externalUserId: USER }),
  });
  const plain = await differences(message(question), model);
  const tool: Target = { url: rich.toolUrl, headers: { 'content-type': 'application/json' }, body: '{"order":"4711"}' };
  const withTool = await differences(message(CALL_PLEASE), tool);
  await service.stop();
  await rich.close();
  const overParts = withTool.over.map((value) => value - 2 * plain.direct);

  return [
    {
      measure: 'runtime',
      name: 'turn with everything linked, over the model: p50',
      value: median(plain.over),
      unit: 'ms',
      target: { limit: 3, is: 'at most' },
      note: `${plain.service.toFixed(2)} ms less ${plain.direct.toFixed(2)} ms; rounds ${spread(plain.over)}`,
    },
    {
      measure: 'runtime',
      name: 'turn with one HTTP tool, over its parts: p50',
      value: median(overParts),
      unit: 'ms',
      target: { limit: 15, is: 'at most' },
      note: `${withTool.service.toFixed(2)} ms less two model calls and a tool call of ${withTool.direct.toFixed(2)} ms; rounds ${spread(overParts)}`,
    },
    ...Object.entries(beforeModel).map(([name, value]) => ({
      measure: 'runtime',
      name: `round trips before the model is called: ${name}`,
      value,
      unit: '',
      target: { limit: 3, is: 'at most' as const },
      note: 'with everything linked, counted on the wire',
    })),
  ];
}
