import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { type ToolChoice, toolSet } from '../../clients/mcp/tools/index.ts';
import { measureMcpStart } from './mcpStart.ts';
import { naiveTools } from './naiveTools.ts';
import type { Figure } from './report.ts';
import { median, spread } from './stats.ts';

const ROUNDS = 7;
const MODULE = new URL('../../clients/mcp/tools/index.ts', import.meta.url).href;

/** The choices that docs/mcp.md shows. */
const CHOICES: [name: string, choice: ToolChoice, most?: number][] = [
  ['all tools', {}, 20_000],
  ['--read-only', { readOnly: true }],
  ['--tags Agents,Messages', { tags: ['Agents', 'Messages'] }],
  ['--tools agents__list_agents,messages__send_message', { tools: ['agents__list_agents', 'messages__send_message'] }],
  ['--mode search', { mode: 'search' }],
];

/** Measures the lists of MCP tools: tokens of o200k_base, and the time from the start of a process to the list. */
export async function measureMcp(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const tokens = (value: unknown): number => encode(JSON.stringify(value)).length;
  const document = JSON.parse(readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'));
  const naive = naiveTools(document);
  figures.push(
    figure('tokens, a simple generator', tokens(naive), '', `${naive.length} tools, name, description, input schema`),
  );
  for (const [name, choice, most] of CHOICES) {
    const tools = toolSet(choice).list();
    const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const whole = tokens(tools);
    const note = `${tools.length} tools; the whole list, with output schemas, titles and annotations: ${whole}`;
    figures.push(figure(`tokens, ${name}`, tokens(sent), '', note, most));
    const times = await listTimes(choice);
    const share = `median of ${ROUNDS}, from the start of a process; ${spread(times)}`;
    figures.push(figure(`list, ${name}`, median(times), 'ms', share, 300));
  }
  figures.push(await measureMcpStart());
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

async function listTimes(choice: ToolChoice): Promise<number[]> {
  const script = `import { toolSet } from ${JSON.stringify(MODULE)}; process.stdout.write(JSON.stringify(toolSet(${JSON.stringify(choice)}).list()));`;
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      maxBuffer: 16 * 1024 * 1024,
    });
    times.push(performance.now() - began);
  }
  return times;
}
