import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is wrong with a folder of generated files: those that differ from their text, lack, or are of no use. */
export function staleFiles(folder: string, files: Record<string, string>): string[] {
  const differing = Object.keys(files).filter((name) => textOf(join(folder, name)) !== files[name]);
  const present = existsSync(folder) ? readdirSync(folder) : [];
  return [
    ...differing.map((name) => `generated/${name} is stale: run npm run codegen`),
    // db.ts is left alone when it is not asked for.
    ...present
      .filter((name) => !(name in files) && name !== 'db.ts')
      .map((name) => `generated/${name} is written by nobody`),
  ];
}

/** Writes those that differ: others keep their time stamp. */
export function writeFiles(folder: string, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files))
    if (textOf(join(folder, name)) !== text) writeFileSync(join(folder, name), text);
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
