import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Document } from '../../spec/rules/types.ts';
import type { Stated } from './changelog.ts';
import { sortedKeys, withoutTexts } from './stripped.ts';

/** The last released document, without its texts, and the digest of the document with them. */
export type Released = Stated & { document: Document };

/** The copy of the last released document, or undefined where there is none. */
export function readReleased(file: string): Released | undefined {
  if (!existsSync(file)) return undefined;
  const { digest, document } = JSON.parse(readFileSync(file, 'utf8')) as { digest: string; document: Document };
  return { digest, document, version: versionOf(document) };
}

/** Writes the copy of a document that is released: without texts and examples, with a line for each path and each component. */
export function writeReleased(file: string, document: Document): void {
  const { paths = {}, components = {}, ...rest } = withoutTexts(document);
  const lines = (named: object) =>
    `{\n${Object.entries(named)
      .map(([name, node]) => `${JSON.stringify(name)}: ${JSON.stringify(node)}`)
      .join(',\n')}\n}`;
  const kinds = Object.entries(components).map(([kind, named]) => `${JSON.stringify(kind)}: ${lines(named)}`);
  const parts = [
    ...Object.entries(rest).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`),
    `"paths": ${lines(paths)}`,
    `"components": {\n${kinds.join(',\n')}\n}`,
  ];
  writeFileSync(file, `{\n"digest": "${digestOf(document)}",\n"document": {\n${parts.join(',\n')}\n}\n}\n`);
}

/** What `changelogFaults` has to know of a document. */
export function statedBy(document: Document): Stated {
  return { version: versionOf(document), digest: digestOf(document) };
}

function versionOf(document: Document): string {
  return String((document.info as { version?: string } | undefined)?.version);
}

/** A digest of the whole document, texts and examples too, but not of its version. */
function digestOf(document: Document): string {
  const { version: _, ...info } = (document.info ?? {}) as Record<string, unknown>;
  const whole = JSON.stringify(sortedKeys({ ...document, info }));
  return createHash('sha256').update(whole).digest('hex');
}
