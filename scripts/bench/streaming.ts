import { Agent } from 'undici';
import { API_PREFIX } from '../../generated/operations.ts';
import { FIRST_TOKEN } from './modelServer.ts';
import type { Figure } from './report.ts';
import { quantile } from './stats.ts';
import type { World } from './world.ts';

const WARM_UP = 50;
const REQUESTS = 200;

/** The first token of a stream: milliseconds since the model wrote it, and since the request. */
interface FirstToken {
  afterWrite: number;
  afterRequest: number;
}

/** Measures how much later the first token of `streamMessage` comes than that of the model server itself. */
export async function measureStreaming(world: World): Promise<Figure[]> {
  const service = await world.startService();
  const agent = new Agent({ connections: 1 });
  const { timedModels, modelRequest } = world;

  async function stream(url: string, headers: Record<string, string>, body: string): Promise<FirstToken> {
    const { origin, pathname } = new URL(url);
    const startedAt = performance.now();
    const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body });
    if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}.`);
    let receivedAt = 0;
    let text = '';
    for await (const chunk of answer.body) {
      text += (chunk as Buffer).toString();
      if (receivedAt === 0 && text.includes(FIRST_TOKEN)) receivedAt = performance.now();
    }
    if (receivedAt === 0) throw new Error(`${url} streamed no token: ${text.slice(0, 300)}`);
    return { afterWrite: receivedAt - timedModels.firstTokenAt, afterRequest: receivedAt - startedAt };
  }

  const viaService: FirstToken[] = [];
  const direct: FirstToken[] = [];
  const serviceUrl = `${service.url}${API_PREFIX}/agents/${world.agentId}/messages/stream`;
  const directBody = JSON.stringify({ ...JSON.parse(modelRequest.body), stream: true });
  for (let i = -WARM_UP; i < REQUESTS; i += 1) {
    const a = await stream(serviceUrl, { ...world.headers, 'content-type': 'application/json' }, world.message);
    const b = await stream(timedModels.url + modelRequest.path, modelRequest.headers, directBody);
    if (i < 0) continue;
    viaService.push(a);
    direct.push(b);
  }
  await agent.close();
  await service.stop();

  const difference = (of: keyof FirstToken, share: number) =>
    quantile(
      viaService.map((token) => token[of]),
      share,
    ) -
    quantile(
      direct.map((token) => token[of]),
      share,
    );
  const target = { limit: 5, is: 'at most' } as const;
  return [
    {
      measure: 'streaming',
      name: 'first token, from its write by the model: p50',
      value: difference('afterWrite', 0.5),
      unit: 'ms',
      target,
      note: `p99 ${difference('afterWrite', 0.99).toFixed(2)} ms; ${REQUESTS} streams, less the same from the model itself`,
    },
    {
      measure: 'streaming',
      name: 'first token, from the request: p50',
      value: difference('afterRequest', 0.5),
      unit: 'ms',
      target,
      note: `p99 ${difference('afterRequest', 0.99).toFixed(2)} ms; with everything that comes before the model is asked`,
    },
  ];
}
