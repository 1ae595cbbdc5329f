import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files that `--no-db` leaves as they are. */
const FROM_DATABASE = new Set(['db.ts', 'schema.sql']);

/** The faults of a folder of generated files: files that differ from their text, are missing, or are written by nobody. */
export function staleFiles(folder: string, files: Record<string, string>): string[] {
  const differing = Object.keys(files).filter((name) => textOf(join(folder, name)) !== files[name]);
  const present = existsSync(folder) ? readdirSync(folder) : [];
  return [
    ...differing.map((name) => `generated/${name} is stale: run npm run codegen`),
    ...present
      .filter((name) => !(name in files) && !FROM_DATABASE.has(name))
      .map((name) => `generated/${name} is written by nobody`),
  ];
}

/** Writes the files that differ. The others keep their time stamp. */
export function writeFiles(folder: string, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files))
    if (textOf(join(folder, name)) !== text) writeFileSync(join(folder, name), text);
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
