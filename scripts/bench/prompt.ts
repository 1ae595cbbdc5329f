import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { API_PREFIX } from '../../generated/operations.ts';
import { globalModelId } from '../../runtime/models/catalogue.ts';
import { ASKER, makePromptAgent, PROMPT_TURNS } from './promptConversation.ts';
import { startPromptServer } from './promptServer.ts';
import type { Figure } from './report.ts';
import type { World } from './world.ts';

/** The share of a request that the one before it begins with, at least. */
const TARGET = 85;
const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

type Body = Record<string, unknown>;

/** A request of a conversation. */
interface Sent {
  /** Its turn, from 0. */
  turn: number;
  tokens: number[];
}

/** Two requests in a row: the tokens of the second, and how many of them it begins with as the first does. */
interface Pair {
  tokens: number;
  shared: number;
  isNewTurn: boolean;
}

/**
 * The tokens of a request in the order in which providers read it: tools, system prompt, messages. Marks of the cache are no tokens. The
 * JSON of the wire stands for each provider's own form of the same.
 */
function tokensOf({ tools, system, messages }: Body): number[] {
  const read = [tools, system, messages].filter((part) => part !== undefined);
  const json = JSON.stringify(read, (key, value) => (key === 'cache_control' ? undefined : value));
  return encode(json, AS_TEXT);
}

function pairsOf(sent: readonly Sent[]): Pair[] {
  return sent.slice(1).map(({ turn, tokens }, place) => {
    const before = sent[place] ?? { turn, tokens: [] };
    const differs = tokens.findIndex((token, at) => token !== before.tokens[at]);
    return {
      tokens: tokens.length,
      shared: differs === -1 ? tokens.length : differs,
      isNewTurn: turn !== before.turn,
    };
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
const shareOf = (pairs: readonly Pair[]): number =>
  (100 * sum(pairs.map(({ shared }) => shared))) / sum(pairs.map(({ tokens }) => tokens));

/** Measures how much of each request of a conversation its provider has read before, in the formats of Anthropic and of compatible servers. */
export async function measurePrompt(world: World): Promise<Figure[]> {
  const models = await startPromptServer();
  const service = await world.startService({
    modelUrl: models.url,
    env: {
      GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true',
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_BASE_URL: `${models.url}/v1`,
    },
  });
  const figures: Figure[] = [];
  const formats = [
    ['Anthropic', globalModelId('anthropic', 'claude-haiku-4-5')],
    ['compatible', world.modelId],
  ] as const;
  const agent = await makePromptAgent(world, service.url);
  for (const [format, modelId] of formats) {
    await agent.use(modelId);
    const sent: Sent[] = [];
    let conversationId: string | undefined;
    for (const [turn, { content, answers }] of PROMPT_TURNS.entries()) {
      models.begin(answers);
      const response = await fetch(`${service.url}${API_PREFIX}/agents/${agent.agentId}/messages`, {
        method: 'POST',
        headers: { ...world.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ content, conversationId, ...(conversationId ? {} : { externalUserId: ASKER }) }),
      });
      if (!response.ok) throw new Error(await response.text());
      ({ conversationId } = (await response.json()) as { conversationId: string });
      sent.push(...models.bodies.map((body) => ({ turn, tokens: tokensOf(body) })));
    }
    const pairs = pairsOf(sent);
    const turns = pairs.filter(({ isNewTurn }) => isNewTurn);
    const note = (of: readonly Pair[]) => of.map(({ shared, tokens }) => `${shared}/${tokens}`).join(' ');
    figures.push(
      figure(`${format}: requests in a row share, steps included`, shareOf(pairs), note(pairs), TARGET),
      figure(`${format}: from turn to turn alone`, shareOf(turns), note(turns)),
      {
        measure: 'prompt',
        name: `${format}: tokens of all requests`,
        value: sum(sent.map(({ tokens }) => tokens.length)),
        unit: '',
        note: sent.map(({ tokens }) => tokens.length).join(' '),
      },
    );
  }
  await agent.close();
  await service.stop();
  await models.close();
  return figures;
}

function figure(name: string, value: number, note: string, least?: number): Figure {
  const target = least === undefined ? {} : { target: { limit: least, is: 'at least' as const } };
  return { measure: 'prompt', name, value, unit: '%', note, ...target };
}
