import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

const ROUNDS = 9;
const ROOT = join(import.meta.dirname, '../..');

/** What a client of 2025 sends when it starts the server. */
const OPENING = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
];

/** Builds `guildhall-mcp` as it is shipped. */
export function buildMcp(): void {
  execFileSync(process.execPath, [join(ROOT, 'clients/build.ts'), 'mcp'], { stdio: 'inherit' });
}

/** Times in milliseconds from the start of the built `guildhall-mcp`, as a client starts it, to its list of tools. */
export async function startTimes(options: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await startToList(options));
  return times;
}

async function startToList(options: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [join(ROOT, 'clients/mcp/dist/guildhall-mcp.js'), ...options], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const listed = new Promise<void>((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
      if (output.includes('"id":2') && output.endsWith('\n')) resolve();
    });
    child.once('close', () => reject(new Error('guildhall-mcp ended before it listed the tools.')));
  });
  for (const message of OPENING) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  await listed;
  const took = performance.now() - began;
  child.stdin.end();
  return took;
}
