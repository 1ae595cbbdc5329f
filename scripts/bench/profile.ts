import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A V8 CPU profile, as `node --cpu-prof` writes it. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GROUPS = 24;
const FUNCTIONS = 40;

/** The part of the program that a script belongs to: a package, a file of the project, or Node itself. */
function groupOf(url: string): string {
  const path = url.startsWith('file://') ? fileURLToPath(url) : url;
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (inPackage) return inPackage;
  if (path.startsWith(ROOT)) return path.slice(ROOT.length);
  return path.startsWith('node:') ? path : 'V8 and native code';
}

/** Summarises the profiles in a folder: where their processes spent their time, without idle time. */
export function summarise(folder: string): string {
  const groups = new Map<string, number>();
  const functions = new Map<string, number>();
  let total = 0;
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
    const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
    for (const [index, id] of profile.samples.entries()) {
      const frame = frames.get(id);
      if (!frame || frame.functionName === '(idle)') continue;
      const took = profile.timeDeltas[index] ?? 0;
      const group = frame.url === '' && frame.functionName.startsWith('(') ? frame.functionName : groupOf(frame.url);
      const name = `${frame.functionName || '(anonymous)'}  ${group}:${frame.lineNumber + 1}`;
      total += took;
      groups.set(group, (groups.get(group) ?? 0) + took);
      functions.set(name, (functions.get(name) ?? 0) + took);
    }
  }
  const lines = (times: Map<string, number>, most: number) =>
    [...times]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, most)
      .map(([name, took]) => `${((100 * took) / total).toFixed(1).padStart(6)} %  ${name}`);
  return ['Self time by part:', ...lines(groups, GROUPS), '', 'by function:', ...lines(functions, FUNCTIONS)].join(
    '\n',
  );
}
