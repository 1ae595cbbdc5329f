import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The licenses of the packages that a bundle contains, as one text: theirs ask for it. `inputs` are the bundled files, relative to `root`.
 * @throws Error when a package has neither a license file nor a license in its package.json
 */
export function licensesOf(root: string, inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []));
  return [...folders]
    .toSorted()
    .map((folder) => licenseOf(join(root, folder)))
    .join('\n\n---\n\n');
}

function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each));
  if (!file && typeof license !== 'string') throw new Error(`${name} has no license`);
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `License: ${license}`;
  return `${name} ${version}\n\n${text}`;
}
