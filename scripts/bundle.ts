import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Document } from '../spec/rules/types.ts';
import { writeErrorExamples } from './bundle/errorExamples.ts';
import { markNotImplemented } from './bundle/notImplemented.ts';
import { writePatchNulls } from './bundle/patchNulls.ts';
import { writeResponseHeaders } from './bundle/responseHeaders.ts';
import { hoistWebhooks } from './bundle/webhooks.ts';

const root = join(import.meta.dirname, '..');

/**
 * Runs Redocly CLI in a process of its own, without its network calls.
 * @throws when the command fails; the error carries its output.
 */
export async function redocly(args: string[]): Promise<{ stdout: string; stderr: string }> {
  const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js');
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
  return promisify(execFile)(process.execPath, [cli, ...args], { cwd: root, env, maxBuffer: 64 * 1024 * 1024 });
}

/**
 * Bundles the document in `specFolder` (its openapi.yaml and all files that it refers to) into one, in a stable form: components
 * sorted by name, examples of operations in place, because Redocly would number the many examples that share a file name, and examples
 * for each error code. The operations in `notImplemented` are marked.
 * @throws Error with Redocly's output when a reference does not resolve or the document does not parse.
 */
export async function bundle(specFolder: string, notImplemented: readonly string[] = []): Promise<Document> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-bundle-'));
  try {
    const file = join(folder, 'openapi.json');
    const config = join(root, 'spec/redocly.yaml');
    const args = ['bundle', join(specFolder, 'openapi.yaml'), '--config', config, '--output', file];
    await redocly(args).catch((error) => {
      const faults = String(error.stderr).match(/^(Can't resolve|Failed to parse|.*Error:).*$/gm) ?? [error.message];
      throw new Error(`The document does not bundle (npm run spec:lint):\n${faults.slice(0, 20).join('\n')}`);
    });
    return tidy(JSON.parse(await readFile(file, 'utf8')), notImplemented);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function tidy(document: Document, notImplemented: readonly string[]): Document {
  const { examples = {}, ...components } = document.components ?? {};
  eachObject([document.paths, document.webhooks], (node) => {
    if (!isRecord(node.examples) || Array.isArray(node.examples)) return;
    for (const [name, example] of Object.entries(node.examples)) {
      const target = isRecord(example) ? String(example.$ref).match(/^#\/components\/examples\/(.+)$/)?.[1] : undefined;
      if (target) node.examples[name] = examples[target];
    }
  });
  document.components = components;
  markNotImplemented(document, notImplemented);
  writePatchNulls(document);
  writeResponseHeaders(document);
  writeErrorExamples(document);
  hoistWebhooks(document);
  const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
  document.components = Object.fromEntries(
    Object.entries(document.components).map(([kind, named]) => [
      kind,
      Object.fromEntries(Object.entries(named).sort(byName)),
    ]),
  );
  return document;
}

function eachObject(node: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (Array.isArray(node)) for (const child of node) eachObject(child, visit);
  if (!isRecord(node)) return;
  visit(node);
  for (const child of Object.values(node)) eachObject(child, visit);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
