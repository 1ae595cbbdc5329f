import { readFileSync } from 'node:fs';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { type ToolChoice, toolSet } from '../../clients/mcp/tools/index.ts';
import { buildMcp, startTimes } from './mcpStart.ts';
import { naiveTools } from './naiveTools.ts';
import type { Figure } from './report.ts';
import { median, spread } from './stats.ts';

/** The choices of docs/mcp.md, as options of the command. */
const CHOICES: [options: string, choice: ToolChoice, most?: number][] = [
  ['', {}, 20_000],
  ['--read-only', { readOnly: true }],
  ['--tags agents,messages', { tags: ['agents', 'messages'] }],
  ['--tools listAgents,sendMessage', { tools: ['listAgents', 'sendMessage'] }],
  ['--mode search', { mode: 'search' }],
];

/** Measures the lists of MCP tools: tokens of o200k_base, and the time from the start of `guildhall-mcp` to its list. */
export async function measureMcp(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const tokens = (value: unknown): number => encode(JSON.stringify(value)).length;
  const document = JSON.parse(readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'));
  const naive = naiveTools(document);
  figures.push(
    figure('tokens, a simple generator', tokens(naive), '', `${naive.length} tools, name, description, input schema`),
  );
  buildMcp();
  for (const [options, choice, most] of CHOICES) {
    const name = options === '' ? 'all tools' : options;
    const tools = toolSet(choice).list();
    const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const whole = tokens(tools);
    const note = `${tools.length} tools; the whole list, with output schemas, titles and annotations: ${whole}`;
    figures.push(figure(`tokens, ${name}`, tokens(sent), '', note, most));
    const times = await startTimes(options === '' ? [] : options.split(' '));
    const share = `median of ${times.length}, guildhall-mcp on stdio, from its start to its list; ${spread(times)}`;
    figures.push(figure(`list, ${name}`, median(times), 'ms', share, 300));
  }
  return figures;
}

function figure(name: string, value: number, unit: string, note: string, most?: number): Figure {
  return {
    measure: 'mcp',
    name,
    value,
    unit,
    note,
    ...(most === undefined ? {} : { target: { limit: most, is: 'at most' } }),
  };
}
